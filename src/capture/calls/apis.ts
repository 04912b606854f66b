/** The APIs that a call may speak: those of `src/wire`, and Bedrock's envelopes around them. */
import type { WireApi } from '../../wire/message.ts'

export type CallApi = WireApi | 'bedrock-invoke' | 'bedrock-converse'
