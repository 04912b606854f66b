/** What this reader has seen of Cursor's lines, chats and bubbles. */
import { vocabulary } from './drift.ts'

export const CURSOR_VOCABULARY = vocabulary({
  records: [
    'line: role message timestamp',
    'message: content',
    `chat: _v composerId name subtitle text createdAt lastUpdatedAt hasLoaded conversationMap status forceMode unifiedMode isAgentic
     context allAttachedFileCodeChunksUris contextUsagePercent modelConfig capabilities originalFileStates newlyCreatedFiles
     newlyCreatedFolders totalLinesAdded totalLinesRemoved addedFiles removedFiles filesChangedCount isFileListExpanded isQueueExpanded
     hasUnreadMessages browserChipManuallyDisabled browserChipManuallyEnabled gitHubPromptDismissed createdOnBranch isCreatingWorktree
     isApplyingWorktree isUndoingWorktree applied pendingCreateWorktree generatingBubbleIds codeBlockData subComposerIds
     subagentComposerIds subagentInfo capabilityContexts todos speculativeSummarizationEncryptionKey blobEncryptionKey
     latestChatGenerationUUID isArchived isDraft isBestOfNSubcomposer isBestOfNParent bestOfNJudgeWinner isSpec isSpecSubagentDone
     isNAL planModeSuggestionUsed usageData contextTokensUsed contextTokenLimit promptTokenBreakdown workspaceIdentifier
     trackedGitRepos fullConversationHeadersOnly conversation richText`,
    'tool: name params rawArgs result status tool toolCallId',
    'tokenCount: inputTokens outputTokens',
    'thinking: signature text',
    `bubble: _v type bubbleId text richText createdAt requestId attachedCodeChunks attachedFileCodeChunksMetadataOnly supportedTools
     modelInfo workspaceUris serverBubbleId codeBlocks thinking toolResults toolFormerData tokenCount usageUuid capabilities gitDiffs
     commits isAgentic context capabilityType images allThinkingBlocks thinkingDurationMs`,
  ],
  blocks: [
    ...'role:user role:assistant role:system role:tool'.split(' '),
    'reasoning: signature text thinking',
    'text: text',
    'thinking: signature text thinking',
    'tool-call: args id input name toolCallId toolName',
    'tool-result: content name result toolCallId toolName tool_use_id',
    'tool_result: content name result toolCallId toolName tool_use_id',
    'tool_use: args id input name toolCallId toolName',
  ],
})
