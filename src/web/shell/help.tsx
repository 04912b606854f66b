/** The keys that do something now, as the views have said. */
import { keyGroups } from '../keys.ts'
import { Dialog } from '../ui/dialog.tsx'

const NAMES: ReadonlyMap<string, string> = new Map([
  ['ArrowDown', '↓'],
  ['ArrowUp', '↑'],
  ['ArrowLeft', '←'],
  ['ArrowRight', '→'],
  ['Escape', 'Esc'],
  [' ', 'Space'],
])

export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div class="help">
        {keyGroups.value.toReversed().map(({ name, bindings }) => {
          const shown = bindings().filter(({ says }) => says !== undefined)
          if (shown.length === 0) return null
          return (
            <section key={name}>
              <h3>{name}</h3>
              <dl>
                {shown.map(({ keys, says }) => (
                  <>
                    <dt>
                      {keys.map((key, at) => (
                        <span key={key}>
                          {at > 0 && ' or '}
                          {key.split(/(?<=.) /).map((one) => (
                            <kbd key={one}>{NAMES.get(one) ?? one}</kbd>
                          ))}
                        </span>
                      ))}
                    </dt>
                    <dd>{says}</dd>
                  </>
                ))}
              </dl>
            </section>
          )
        })}
      </div>
    </Dialog>
  )
}
