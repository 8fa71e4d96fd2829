import { append } from '#seed/stage.ts'
import { type DiaryPush, diaryScenes } from './diary.ts'
import { numbersFrom, type Scene, timeOf } from './scenes.ts'

const subjects = [
  'the carry',
  'the pawl',
  'the printing wheels',
  'a loop of cards',
  'the moon dial',
  'the strike',
  'the tide table',
  'the remontoire',
]
const acts = ['Sketch', 'Compute', 'Correct', 'Simplify', 'Try', 'Explain']
const thoughts = [
  'Two wheels do what I thought needed three.',
  'It works on paper and not in brass. Tomorrow I ask Farid.',
  'The remainder is 1/78, which nobody will notice before spring.',
  'Ben’s numbers agree with mine to the second digit.',
  'A longer lever, and the friction is gone.',
  'I was wrong on the last page. The sign is the other way.',
  'If the drum turns twice, the carry is done in time.',
]

/** Ada writes on most days of a busy week, sometimes more than once, and not at all in others. */
export function notebookScenes(now: Date): Scene[] {
  const random = numbersFrom(1815)
  const one = (list: string[]) => list[random(list.length)] ?? ''
  const files = { 'README.md': '# notebook\n\nSketches for the engine and the clock, by subject.\n' }
  const pushes: DiaryPush[] = [{ days: 354, hour: 21, by: 'ada', commits: [{ message: 'Begin a notebook', files }] }]
  for (let days = 353; days > 0; days--) {
    const zeal = [6, 1, 4, 0, 5, 3][Math.floor(days / 9) % 6] ?? 0
    const pages = random(10) < zeal ? 1 + Math.floor(random(5) / 3) : 0
    for (let page = 0; page < pages; page++) {
      const [hour, subject, act] = [8 + page * 6 + random(5), one(subjects), one(acts)]
      const text = `\n## ${timeOf({ days, hour }, now).toISOString().slice(0, 10)}\n\n${one(thoughts)}\n`
      const path = `${subject.split(' ').at(-1)}.md`
      pushes.push({ days, hour, by: 'ada', commits: [{ message: `${act} ${subject}`, files: { [path]: append(text) } }] })
    }
  }
  return diaryScenes(
    'ada/notebook',
    'ada',
    { description: 'Sketches for the engine and the clock', topics: ['diary', 'engine'] },
    pushes,
  )
}
