/** What the list can be narrowed down by: values with how many sessions have them, each a switch. */
import { useState } from 'preact/hooks'
import type { SessionsAnswer } from '../../../server/api.ts'
import { setParams } from '../../router.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Chip } from '../../ui/chip.tsx'
import { chosenCount, FACET_NAMES, toggled, type FacetName, type Question } from './question.ts'

type Facet = SessionsAnswer['facets'][FacetName]

const TITLES: Readonly<Record<FacetName, string>> = {
  status: 'Status',
  agent: 'Agent',
  model: 'Model',
  project: 'Project',
  branch: 'Branch',
}
const FEW = 8

export type FacetsProps = {
  readonly question: Question
  readonly facets: SessionsAnswer['facets'] | undefined
}

export function Facets({ question, facets }: FacetsProps) {
  const clear = (): void => setParams(Object.fromEntries(FACET_NAMES.map((name) => [name, undefined])))
  return (
    <>
      {FACET_NAMES.map((name) => {
        const facet = facets?.[name] ?? []
        // One value that everything has narrows nothing down.
        if (
          facet.length === 0 ||
          (facet.length === 1 && question.facets[name].length === 0 && name !== 'agent')
        )
          return null
        return <OneFacet key={name} name={name} facet={facet} question={question} />
      })}
      {chosenCount(question) > 0 && (
        <Button kind="plain" onClick={clear}>
          Clear filters
        </Button>
      )}
    </>
  )
}

type OneFacetProps = { readonly name: FacetName; readonly facet: Facet; readonly question: Question }

function OneFacet({ name, facet, question }: OneFacetProps) {
  const [isAll, setAll] = useState(false)
  const chosen = question.facets[name]
  const shown = facet.filter(({ value }, at) => isAll || at < FEW || chosen.includes(value))
  return (
    <fieldset class="facet">
      <legend>{TITLES[name]}</legend>
      <div class="facet-values">
        {shown.map(({ value, count }) => (
          <Chip
            key={value}
            count={count}
            isPressed={chosen.includes(value)}
            onPress={() => setParams(toggled(question, name, value))}
            title={visible(oneLine(value))}
          >
            {visible(oneLine(name === 'project' ? folderName(value) : value, 60))}
          </Chip>
        ))}
        {facet.length > shown.length && (
          <button type="button" class="facet-more" onClick={() => setAll(true)}>
            {facet.length - shown.length} more
          </button>
        )}
      </div>
    </fieldset>
  )
}

const folderName = (path: string): string => path.split(/[\\/]/).findLast((part) => part !== '') ?? path
