/** Which part of Inspect's a file is: a log, a sample of one, events, how an evaluation began, or what it says of its samples. */
import { counted } from '../transcript/counted.ts'
import { asArray, isObject, type Json } from '../transcript/json.ts'
import { documentOf } from './file-format.ts'
import type { Detection } from './format.ts'
import type { Head } from './head-records.ts'

/** `about`: what a log says again of its samples, and what their scores come to. */
export type Kind = 'log' | 'sample' | 'events' | 'header' | 'about'

export function lookAtInspect(head: Head): (Detection & { readonly kind: Kind }) | undefined {
  const document = documentOf(head)
  if (isAbout(document))
    return { kind: 'about', confidence: 0.9, reason: "what a log says of its samples' scores" }
  if (!isObject(document)) return undefined
  const { eval: evaluation, plan, samples, events, messages, epoch } = document
  if (isObject(evaluation) && 'task' in evaluation && 'model' in evaluation) {
    const kind = 'samples' in document || Array.isArray(samples) ? 'log' : 'header'
    return { kind, confidence: 0.95, reason: `an evaluation${isObject(plan) ? ' and its plan' : ''}` }
  }
  if (typeof epoch === 'number' && 'id' in document && (Array.isArray(messages) || 'target' in document))
    return { kind: 'sample', confidence: 0.95, reason: 'a sample of an epoch' }
  const first = (asArray(events) ?? []).slice(0, 20).filter(isObject)
  const own = first.filter(
    (event) => typeof event['event'] === 'string' && ('timestamp' in event || 'span_id' in event),
  ).length
  if (own > 0 && own * 2 > first.length)
    return { kind: 'events', confidence: 0.9, reason: `${counted(own, 'event')} by their names` }
  // A list without any says little.
  const isExpected = Array.isArray(events) && events.length === 0 && isObject(document['expected'])
  return isExpected ? { kind: 'events', confidence: 0.6, reason: 'a list of no events' } : undefined
}

/** `summaries.json` lists samples without their messages, `reductions.json` scores of all of them. */
function isAbout(document: Json | undefined): boolean {
  const list = asArray(document) ?? []
  const isSummary = (one: Json): boolean =>
    isObject(one) &&
    'id' in one &&
    typeof one['epoch'] === 'number' &&
    'target' in one &&
    !('messages' in one)
  const isReduction = (one: Json): boolean =>
    isObject(one) && typeof one['scorer'] === 'string' && Array.isArray(one['samples'])
  return list.length > 0 && (list.every(isSummary) || list.every(isReduction))
}
