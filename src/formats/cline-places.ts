/** Where the Cline family keeps its files: below each editor that its extensions run in, and in Cline's own folder. */
import type { Kind } from './cline-look.ts'
import type { Place } from './format.ts'

/** The names that the family gives the files of a task. */
export const NAMES: ReadonlyMap<string, Kind> = new Map([
  ['api_conversation_history.json', 'history'],
  ['ui_messages.json', 'ui'],
  ['claude_messages.json', 'ui'],
  ['task_metadata.json', 'task'],
  ['history_item.json', 'item'],
])

/** Folders of the editors that extensions run in. */
export const EDITORS: readonly string[] = [
  ...['~/Library/Application Support', '${XDG_CONFIG_HOME:-~/.config}', '${APPDATA}'].flatMap((root) =>
    ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf'].map((editor) => `${root}/${editor}/User`),
  ),
  '~/.vscode-server/data/User',
  '~/.cursor-server/data/User',
]

/** As `src/sources` looks them up on disk. */
export const PLACES: readonly Place[] = places()

function places(): readonly Place[] {
  const extensions = ['saoudrizwan.claude-dev', 'rooveterinaryinc.roo-cline', 'kilocode.kilo-code']
  const folders = EDITORS.flatMap((home) =>
    extensions.map((extension) => `${home}/globalStorage/${extension}/tasks`),
  )
  return [
    {
      folders: [...folders, '${CLINE_DIR:-~/.cline}/data/tasks'],
      files: [...NAMES.keys()].map((name) => `*/${name}`),
    },
    { folders: ['${CLINE_DIR:-~/.cline}/data/sessions'], files: ['**/*.json'] },
  ]
}
