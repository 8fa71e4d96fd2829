import { collaborate, comment, fork, giveStar, mergeInto, openPull, publishRelease, reviewPull } from '#seed/acting.ts'
import { append, replace } from '#seed/stage.ts'
import { type Scene, scene } from './scenes.ts'

const engine = 'ada/engine'

/** Ada's own repository, in TypeScript, with a fork and a pull request that waits for her. */
export const engineScenes: Scene[] = [
  scene(359, 19, async (stage) => {
    const description = 'Notes on an engine that computes'
    await stage.createRepository('ada', engine, { description, topics: ['simulation', 'typescript'] })
    await stage.push('ada', engine, [
      { message: 'Begin', files: { 'README.md': '# engine\n\nNotes on an engine that computes.\n' } },
    ])
  }),
  scene(358, 20, (stage) =>
    stage.push('ada', engine, [{ message: 'Describe the mill', files: { 'mill.md': mill, 'src/store.ts': store } }]),
  ),
  scene(352, 11, (stage) => collaborate(stage, 'ada', engine, 'ben', 'push')),
  scene(351, 17, (stage) => stage.push('ben', engine, [{ message: 'Count from nought', files: { 'src/count.ts': count } }])),
  scene(348, 18, (stage) => giveStar(stage, 'ben', engine)),
  scene(345, 9, (stage) => giveStar(stage, 'cleo', engine)),
  scene(306, 21, (stage) =>
    stage.push('ada', engine, [
      { message: 'Let the mill add', files: { 'src/mill.ts': adding } },
      { message: 'Test the mill', files: { 'src/mill.test.ts': millTest } },
    ]),
  ),
  scene(262, 20, (stage) =>
    openPull(stage, 'ben', engine, 'multiply', {
      title: 'Multiply by adding often',
      body: 'As slow as the real one. A crank for the tens would help, later.',
      branch: 'multiply',
      reviewers: ['ada'],
      commits: [{ message: 'Multiply by adding often', files: { 'src/mill.ts': append(multiplying) } }],
    }),
  ),
  scene(261, 19, (stage) => reviewPull(stage, 'ada', engine, 'multiply', 'APPROVE', 'Slow and right. I take it.')),
  scene(261, 20, (stage) => mergeInto(stage, 'ada', engine, 'multiply', 'multiply', 'merge')),
  scene(204, 18, (stage) =>
    stage.push('ada', engine, [
      { message: 'Print the result on cards', files: { 'src/printer.ts': printer } },
      {
        message: 'Explain the cards',
        files: { 'README.md': append('\n## Cards\n\nThe printer writes one number on each card.\n') },
      },
    ]),
  ),
  scene(203, 10, (stage) =>
    publishRelease(stage, 'ada', engine, {
      tag_name: 'v0.1.0',
      name: 'It adds',
      body: 'The mill adds, multiplies ({multiply}) and prints.',
    }),
  ),
  scene(131, 17, (stage) => giveStar(stage, 'dmitri', engine)),
  scene(130, 18, (stage) => fork(stage, 'dmitri', engine)),
  scene(88, 20, (stage) =>
    stage.push('ada', engine, [{ message: 'Subtract with complements', files: { 'src/mill.ts': append(subtracting) } }]),
  ),
  scene(60, 9, (stage) =>
    publishRelease(stage, 'ada', engine, { tag_name: 'v0.2.0', name: 'It subtracts', body: 'Negative numbers have a bell.' }),
  ),
  scene(19, 19, (stage) =>
    openPull(stage, 'dmitri', engine, 'both-ways', {
      title: 'Let the mill turn both ways',
      body: 'The mill turns in both directions, and the counter counts down. @ada and @ben, please review.',
      branch: 'both-ways',
      from: 'dmitri/engine',
      commits: [
        { message: 'Turn the other way', files: { 'mill.md': replace('does the work', 'does the work, in either direction') } },
        { message: 'Count down', files: { 'src/count.ts': append(down) } },
      ],
    }),
  ),
  scene(17, 20, (stage) =>
    reviewPull(stage, 'ben', engine, 'both-ways', 'COMMENT', 'I like the second commit. The first needs a drawing.', [
      { path: 'src/count.ts', line: 5, body: '`toReversed` would not change the first list. Does it matter here?' },
    ]),
  ),
  scene(16, 8, (stage) =>
    comment(stage, 'dmitri', engine, 'both-ways', 'It does not, but you are right that it is nicer. I shall draw the pawl.'),
  ),
]

const mill = `# The mill

The mill does the work; the store keeps the numbers.

1. The crank turns the drum.
2. The drum lifts the levers.
3. The levers add what is in the store.
`

const store = `/** The columns of the store, each with a number of up to forty digits. */
export class Store {
  readonly #columns = new Map<number, bigint>()

  read(column: number): bigint {
    return this.#columns.get(column) ?? 0n
  }

  write(column: number, value: bigint) {
    if (value.toString().length > 40) throw new RangeError('The wheel is full')
    this.#columns.set(column, value)
  }
}
`

const count = `/** The numbers from nought up to, and without, \`n\`. */
export const count = (n: number) => [...Array(n).keys()]
`

const down = `
/** The same numbers, the last one first. */
export const countDown = (n: number) => count(n).reverse()
`

const adding = `import type { Store } from './store.ts'

export function add(store: Store, from: number, to: number) {
  store.write(to, store.read(to) + store.read(from))
}
`

const multiplying = `
/** Adds as often as the multiplier says, like the crank does. */
export function multiply(store: Store, from: number, times: number, to: number) {
  for (let turn = 0; turn < times; turn++) add(store, from, to)
}
`

const subtracting = `
export function subtract(store: Store, from: number, to: number) {
  store.write(to, store.read(to) - store.read(from))
}
`

const millTest = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { add } from './mill.ts'
import { Store } from './store.ts'

test('the mill adds what is in the store', () => {
  const store = new Store()
  store.write(1, 2n)
  store.write(2, 40n)
  add(store, 1, 2)
  assert.equal(store.read(2), 42n)
})
`

const printer = `import type { Store } from './store.ts'

/** One card for each column, as wide as a card is. */
export const cards = (store: Store, columns: number[]) => columns.map((column) => store.read(column).toString().padStart(40, ' '))
`
