/** Formats that are written beside a journal as it grows: those of the seeds, whose files others follow. */
export const LIVE: ReadonlySet<string> = new Set(['devflow', 'weakincentives', 'leslie', 'entire', 'swarm'])
