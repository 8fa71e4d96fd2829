import { append } from '#seed/stage.ts'
import { type DiaryPush, diaryScenes } from './diary.ts'
import { numbersFrom, type Scene, timeOf } from './scenes.ts'

const places = [
  'the belfry',
  'the clock room',
  'the stairs',
  'the weight shaft',
  'the dial',
  'the roof',
  'the ringing chamber',
  'the cellar',
]
const works = ['swept', 'measured', 'painted', 'oiled', 'photographed', 'repaired a board in', 'hung a lamp in', 'drew']
const weathers = [
  'Sun and a light wind.',
  'Rain all day.',
  'Fog until noon.',
  'The first frost.',
  'Warm enough for open louvres.',
  'A storm from the sea.',
]
const guests = [
  'Greta brought rolls.',
  'A school class counted the teeth of the great wheel.',
  'Nobody came, which is also nice.',
  'Ben timed the pendulum again.',
  'Esme taught two beginners.',
  'The archive lent us a drawing of 1848.',
  'Lena read us a manual.',
]
const ends = [
  'The clock did not stop once.',
  'Tomorrow the ropes.',
  'We close the louvres for the night.',
  'The key hangs in the bakery.',
  'More next week.',
  'My hands are black.',
]

/** Cleo's diary, of which others write a page now and then. */
export function journalScenes(now: Date): Scene[] {
  const random = numbersFrom(1848)
  const one = (list: string[]) => list[random(list.length)] ?? ''
  const pushes: DiaryPush[] = [
    {
      days: 357,
      hour: 20,
      by: 'cleo',
      commits: [{ message: 'Begin a journal', files: { 'README.md': '# journal\n\nWhat we did in the tower, by month.\n' } }],
    },
  ]
  for (let days = 356; days > 0; days -= 2 + random(7)) {
    const [hour, by] = [17 + random(5), random(6) === 0 ? one(['esme', 'ivo', 'kofi']) : 'cleo']
    const date = timeOf({ days, hour }, now).toISOString().slice(0, 10)
    const [place, work] = [one(places), one(works)]
    const text = `\n## ${date}\n\n${one(weathers)} We ${work} ${place}. ${one(guests)} ${one(ends)}\n`
    const path = `${date.slice(0, 4)}/${date.slice(5, 7)}.md`
    pushes.push({ days, hour, by, commits: [{ message: `${capitalized(work)} ${place}`, files: { [path]: append(text) } }] })
  }
  return diaryScenes('cleo/journal', 'cleo', { description: 'A diary of the works in the tower', topics: ['diary'] }, pushes)
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
