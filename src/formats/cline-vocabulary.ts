/** The keys of the Cline family's messages, as seen up to Cline 3.5x and its CLI 3.x, and Roo Code 3.29. */
import { vocabulary } from './drift.ts'

export const VOCABULARY = vocabulary({
  records: [
    // What was sent to the model.
    'history: id role content ts modelInfo metrics isSummary summary condenseId condenseParent truncationId truncationParent isTruncationMarker type encrypted_content reasoning_content reasoning_details',
    // What was shown.
    'ui: ts type ask say text reasoning images files partial modelInfo conversationHistoryIndex conversationHistoryDeletedRange lastCheckpointHash isCheckpointCheckedOut isOperationOutsideWorkspace commandCompleted multiCommandState contextCondense contextTruncation checkpoint progressStatus isProtected isAnswered apiProtocol metadata',
    // A message of the CLI, and the document around them.
    'message: id role content ts modelInfo metrics metadata',
    'document: version updated_at agent sessionId messages system_prompt',
  ],
})
