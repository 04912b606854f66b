/** A list whose elements are made when they are asked for. */
import { expect, it } from 'vitest'
import { isMade, madeList, mapped } from './made-list.ts'

const numbers = madeList(5, (index) => index * 10)

it('is what an array of the same is, for all that reads one', () => {
  const plain = [0, 10, 20, 30, 40]
  expect([...numbers]).toEqual(plain)
  expect(numbers.length).toBe(5)
  expect([numbers[0], numbers[4], numbers[5], numbers.at(-1)]).toEqual([0, 40, undefined, 40])
  expect(numbers.filter((one) => one > 10)).toEqual([20, 30, 40])
  expect(numbers.map((one) => one + 1)).toEqual([1, 11, 21, 31, 41])
  expect(numbers.slice(1, 3)).toEqual([10, 20])
  expect(numbers.reduce((sum, one) => sum + one, 0)).toBe(100)
  expect([numbers.some((one) => one === 40), numbers.every((one) => one < 40)]).toEqual([true, false])
  expect([numbers.includes(30), numbers.indexOf(30), 4 in numbers, 5 in numbers]).toEqual([
    true,
    3,
    true,
    false,
  ])
  expect([...numbers.entries()]).toEqual([...plain.entries()])
  const [first, ...others] = numbers
  expect([first, others]).toEqual([0, [10, 20, 30, 40]])
  expect(Array.isArray(numbers)).toBe(true)
  expect(numbers.flatMap((one) => [one, one]).length).toBe(10)
})

it('is made again where it is mapped, each element when it is asked for', () => {
  let made = 0
  const list = mapped(numbers, (one) => ((made += 1), `${one}`))
  expect([isMade(list), isMade(mapped([1], String))]).toEqual([true, false])
  expect(made).toBe(0)
  expect(list[2]).toBe('20')
  expect(made).toBe(1)
})
