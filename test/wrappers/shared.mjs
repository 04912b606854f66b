// What all programs here share: where the provider and the archive are, a tool, and a word when something is not as it should be.
import { deepStrictEqual } from 'node:assert'

export const base = process.env.PROVIDER
export const options = {
  home: process.env.ARCHIVE,
  onFailure: ({ message }) => console.log(`complaint: ${message}`),
}
export const same = deepStrictEqual
export const add = {
  name: 'add',
  description: 'adds two numbers',
  parameters: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
}
