import { append, type Files } from '#seed/stage.ts'
import { type DiaryPush, diaryScenes } from './diary.ts'
import { numbersFrom, type Scene, scene, timeOf } from './scenes.ts'

/** Who reads the clock; more often those who live near it. */
const readers = ['ada', 'ben', 'ada', 'esme', 'kofi', 'ada', 'ben', 'cleo', 'hana', 'ada', 'ivo', 'ben', 'farid']

const remarks = [
  '',
  '',
  '',
  'wound',
  'oiled the great arbor',
  'fog',
  'school class',
  'pigeon on the hand',
  'frost',
  'storm',
  'rewound the strike',
]

/** About every other day somebody reads the clock, more often in the months when the works were busy. */
function readings(now: Date): DiaryPush[] {
  const random = numbersFrom(1731)
  const pushes: DiaryPush[] = [
    {
      days: 361,
      hour: 10,
      by: 'ben',
      commits: [{ message: 'Begin to measure', files: { 'README.md': readme, 'measurements.csv': head } }],
    },
  ]
  let offset = 41
  for (let days = 360; days > 0; days--) {
    const busy = days % 90 < 45 ? 6 : 4
    if (random(10) >= busy) continue
    const celsius = Math.round(11 - 9 * Math.cos(((360 - days) / 365) * 2 * Math.PI) + random(5))
    offset = Math.max(-3, Math.min(60, offset + random(7) - (days > 210 ? 3.4 : 3)))
    const [by = 'ben', remark = ''] = [readers[random(readers.length)], remarks[random(remarks.length)]]
    const hour = 6 + random(14)
    const row = `${timeOf({ days, hour }, now).toISOString().slice(0, 10)},${offset.toFixed(1)},${celsius},${remark}\n`
    const files: Files = { 'measurements.csv': append(row) }
    const late = offset >= 0 ? `${offset.toFixed(1)} s late` : `${(-offset).toFixed(1)} s early`
    pushes.push({ days, hour, by, commits: [{ message: `Read the clock: ${late}${remark && `, ${remark}`}`, files }] })
  }
  return pushes
}

export function measurementScenes(now: Date): Scene[] {
  const about = { description: 'How late the clock of the tower is, day by day', topics: ['clock', 'data'] }
  return diaryScenes('clockwork/measurements', 'cleo', about, readings(now))
}

const costs: [days: number, what: string, cost: number][] = [
  [340, 'rope', 12],
  [301, 'oil', 8],
  [260, 'bearings', 240],
  [215, 'crane for the sixth bell', 900],
  [180, 'paint', 65],
  [122, 'rope', 24],
  [64, 'louvres', 130],
  [21, 'tea', 9],
]

/** Entries of the private ledger. */
export const ledgerScenes: Scene[] = costs.map(([days, what, cost]) =>
  scene(days, 18, (stage) => {
    const row = `${stage.clock.now().toISOString().slice(0, 10)},${what},${cost}\n`
    return stage.push('cleo', 'clockwork/ledger', [{ message: `Pay for ${what}`, files: { 'ledger.csv': append(row) } }])
  }),
)

const head = 'date,offset,celsius,remark\n'

const readme = `# measurements

How late is the clock? Positive numbers are seconds late, negative ones are early. Read it at the glass in the door, not from the street.

| Column    | Meaning                        |
| --------- | ------------------------------ |
| \`date\`    | the day, by the calendar       |
| \`offset\`  | seconds behind the radio clock |
| \`celsius\` | at the pendulum                |
| \`remark\`  | anything that may explain it   |
`
