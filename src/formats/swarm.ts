/**
 * swarm (Flow Studio): each execution of a step is a JSON Lines transcript and a receipt. Written in the seed's dialect so that
 * its own readers work unchanged; all three dialects in use are read. docs/formats/swarm.md.
 */
import type { Format } from './format.ts'
import { readSwarm } from './swarm-read.ts'
import { detectSwarm } from './swarm-survey.ts'
import { beginSwarm } from './swarm-write.ts'
import { PLACES } from './places.ts'

export const swarm: Format = {
  id: 'swarm',
  title: "swarm: Flow Studio's step transcripts and receipts",
  detect: detectSwarm,
  read: readSwarm,
  write: { root: 'swarm/runs', ignored: () => '.', begin: beginSwarm },
  places: PLACES.swarm,
  // Receipts name the steps of their run, and tell whose a transcript without one is.
  unit: ({ path }) => path.slice(0, Math.max(0, path.indexOf('/'))) || path,
}
