/** Texts of the repository `tower`. */

export const firstReadme = `# tower

The clock in the tower of Bellwater, and its bells.
`

export const readme = `# The tower of Bellwater

The clock has stood still since the flood. This is where we write down how it works, what we mend, and who rings when.

![The tower with its six bells](docs/tower.svg)

## The bells

| Bell | Name    | Weight | Note |
| ---: | ------- | -----: | ---- |
|    1 | Linnet  |  90 kg | e    |
|    2 | Wren    | 120 kg | d    |
|    3 | Marta   | 180 kg | c    |
|    4 | Old Tom | 260 kg | b    |
|    5 | Harbour | 410 kg | g    |

## Visiting

The tower is open on Saturdays. The bells ring from 06:00 to 22:00 every day.

1. Ask @clockwork/ringers for the key.
2. Hold the rail: there are 132 steps.
3. Do **not** touch the pendulum. It weighs as much as a cow.

## Try the chimes

\`\`\`sh
npm test
node src/chime.ts 18 45
\`\`\`

> A clock that is right twice a day is not good enough for a bakery.

More: [the gear train](docs/gears.md), [the order of ringing](docs/ringing.md), [the ropes](docs/ropes.md).
`

export const bells = (count: number) => `${JSON.stringify({ bells: count, oldest: 1731, tuned: count > 5 }, null, 2)}\n`

export const license = `MIT License

Copyright (c) the people of Bellwater

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

export const gears = `# The gear train

| Wheel   | Teeth | Turns an hour |
| ------- | ----: | ------------: |
| Great   |    96 |           1/6 |
| Second  |    78 |             1 |
| Third   |    72 |           7.5 |
| Escape  |    30 |            60 |

The pendulum swings once in two seconds. The escape wheel passes one tooth for each swing, so 30 teeth make one minute.

## Oil

- the arbors: one drop each month
- the pallets: **never**
- the cranks: when they squeak, which is always
`

export const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 320" width="240" height="320" role="img">
  <title>The tower of Bellwater</title>
  <rect width="240" height="320" fill="#dbe9f4"/>
  <rect x="70" y="90" width="100" height="210" fill="#b08968"/>
  <path d="M60 90 L120 20 L180 90 Z" fill="#7f4f24"/>
  <circle cx="120" cy="140" r="34" fill="#fff8e7" stroke="#582f0e" stroke-width="4"/>
  <path d="M120 140 V116 M120 140 L138 148" stroke="#582f0e" stroke-width="4" stroke-linecap="round"/>
  <g fill="#ddb892" stroke="#582f0e">
    <path d="M84 220 q8 -24 16 0 z"/><path d="M112 220 q8 -24 16 0 z"/><path d="M140 220 q8 -24 16 0 z"/>
    <path d="M84 250 q8 -24 16 0 z"/><path d="M112 250 q8 -24 16 0 z"/><path d="M140 250 q8 -24 16 0 z"/>
  </g>
  <rect x="0" y="300" width="240" height="20" fill="#588157"/>
</svg>
`

export const ringing = `# The order of ringing

Rounds go from the lightest bell to the heaviest: 1 2 3 4 5.

## Calls

- **Look to**: take the rope.
- **Go**: the first bell swings.
- **Stand**: all bells stop at the next handstroke.

Left-handed ringers stand at the second bell, where there is room.
`

export const sixth = `
## The sixth bell

*Patience*, 560 kg, note f. She rings last, and she rings slowly. Wait for her.
`

export const ropes = `# The ropes

| Bell | Hung | Strands | State              |
| ---: | ---- | ------: | ------------------ |
|    1 | 2019 |       3 | good               |
|    2 | 2019 |       3 | good               |
|    3 | 2008 |       3 | two strands broken |
|    4 | 2015 |       4 | worn at the sally  |
|    5 | 2021 |       4 | good               |
`

export const chime = `/** Which bells ring at a quarter of an hour. */
export type Chime = number[]

const changes: Chime[] = [
  [1, 2, 3, 4],
  [3, 1, 2, 4],
]

export const strokesAt = (hour: number) => hour % 12 || 12

/** The chimes at a quarter, and on the hour the strokes of the great bell. */
export function chimesAt(hour: number, minute: number): Chime[] {
  const quarter = Math.floor(minute / 15)
  const rung = Array.from({ length: quarter || 4 }, (_, index) => changes[index % changes.length] ?? [])
  const strokes = quarter === 0 ? Array.from({ length: strokesAt(hour) }, () => [5]) : []
  return [...rung, ...strokes]
}
`

export const chimeTest = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chimesAt, strokesAt } from './chime.ts'

test('midnight rings twelve times', () => assert.equal(strokesAt(0), 12))

test('a quarter to seven has three changes and no strokes', () => {
  assert.deepEqual(chimesAt(18, 45), [[1, 2, 3, 4], [3, 1, 2, 4], [1, 2, 3, 4]])
})
`

export const quiet = `
/** The neighbours sleep from 22:00 to 06:00. */
export const isQuiet = (hour: number) => hour >= 22 || hour < 6
`

export const notes = `## Six bells

For the first time in eleven years **all six bells** ring.

- *Patience* hangs, and swings on new bearings (thanks @farid)
- the order of ringing is written down ({order-of-ringing})
- the chimes are computed, not typed ({chime})

The clock stays within a second a day.
`

export const winter = `# The winter timetable

| Day      | First bell | Last bell |
| -------- | ---------- | --------- |
| Weekdays | 07:00      | 21:00     |
| Saturday | 07:30      | 21:00     |
| Sunday   | 08:00      | 20:00     |
| Frost    | noon only  |           |
`

export const translation = `# Der Turm von Bellwater

Der Turm ist samstags offen. Bitte halten Sie sich am Geländer fest: es sind 132 Stufen.
`
