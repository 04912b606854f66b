import fc from 'fast-check'
import { awkwardText } from './arbitrary.ts'

/** Words of many kinds, with what stands between them. */
export const mixedText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      awkwardText,
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.string({
        unit: fc.constantFrom(
          ...Array.from('aAbZ09_.-/ éÉ修复かが\u3099한글\u1112\u1161\u11ab👩💻\u200d\u0301שלΣς'),
        ),
        maxLength: 30,
      }),
      fc.constantFrom(
        'parseSessionId',
        'max_tokens',
        'HTTPServer',
        'utf8Decode',
        'LLMs',
        ' ',
        '。',
        '\ud800',
        'a'.repeat(90),
      ),
    ),
    { maxLength: 8 },
  )
  .map((pieces) => pieces.join(''))
