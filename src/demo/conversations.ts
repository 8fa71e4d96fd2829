import { addReaction, changeIssue, closeIssue, comment, openIssue } from '#seed/acting.ts'
import { numbersFrom, type Scene, scene } from './scenes.ts'

const [tower, engine, ledger] = ['clockwork/tower', 'ada/engine', 'clockwork/ledger']

interface Conversation {
  days: number
  hour: number
  repo: string
  by: string
  name: string
  title: string
  body: string
  labels?: string[]
  assignees?: string[]
  milestone?: string
  comments?: [days: number, hour: number, by: string, body: string, reaction?: string][]
  closed?: [days: number, by: string, reason?: 'not_planned']
}

const written: Conversation[] = [
  {
    ...{ days: 350, hour: 18, repo: engine, by: 'ben', name: 'backwards', title: 'The mill turns backwards' },
    body: 'When I turn the crank to the left, the mill turns left too. @ada, is that intended?\n\n- [x] seen on Monday\n- [ ] seen again',
    comments: [
      [349, 8, 'ada', 'It is **not**. The pawl should hold it, see `mill.md`.'],
      [128, 19, 'dmitri', 'I like it: my fork does that on purpose. @ben', 'ben'],
      [8, 18, 'ben', 'Seen again, with the new crank. @ada'],
    ],
  },
  {
    ...{ days: 346, hour: 12, repo: tower, by: 'cleo', name: 'who-rings', title: 'Who rings at noon?' },
    body: 'The bells hang, but nobody rings them at noon. @clockwork/ringers, please take turns.',
    labels: ['question'],
    comments: [
      [345, 8, 'ada', 'I take noon. Can you take midnight?'],
      [344, 19, 'esme', 'Tuesdays and Fridays are mine.', 'cleo'],
      [4, 9, 'greta', 'The bakery would like to know who rings on Sunday, so that the rolls are ready.'],
      [3, 19, 'cleo', 'A fair question. @clockwork/ringers, who is awake on Sundays?'],
    ],
  },
  {
    ...{
      days: 208,
      hour: 17,
      repo: tower,
      by: 'ada',
      name: 'quarters-issue',
      title: 'Strike the quarters too',
      milestone: 'quarters',
    },
    body: 'Six bells are enough for a chime every 15 minutes. The chimes are computed since {chime}.',
    labels: ['idea'],
    assignees: ['esme'],
    comments: [
      [207, 9, 'cleo', 'Agreed, after the ropes are replaced.'],
      [1, 8, 'greta', 'I heard them on Saturday from the bakery. Lovely, and not too loud. @ada', 'esme'],
      [1, 17, 'esme', 'The second change is a little fast. I shall slow it down.'],
    ],
  },
  {
    ...{ days: 20, hour: 10, repo: tower, by: 'cleo', name: 'third-rope', title: 'Replace the rope of the third bell' },
    body: 'It has two broken strands. **Do not ring it** until this is done.',
    ...{ labels: ['urgent', 'maintenance'], assignees: ['ada', 'kofi'], milestone: 'quarters' },
    comments: [[19, 18, 'kofi', 'I have 30 m of flax rope. It needs an afternoon and two people.']],
  },
  {
    ...{ days: 11, hour: 19, repo: tower, by: 'ada', name: 'second-key', title: 'Make a second key' },
    body: 'The only key hangs in the bakery. On Mondays the bakery is closed.',
    labels: ['idea'],
    comments: [[4, 12, 'esme', 'The locksmith asks which of the three doors.']],
  },
  {
    ...{ days: 5, hour: 18, repo: tower, by: 'esme', name: 'open-day', title: 'Who explains the gears on the open day?' },
    body: 'Last year there were two hundred visitors, and one of them was stuck in the weight shaft.',
    ...{ labels: ['question'], assignees: ['ada'] },
  },
  {
    ...{ days: 18, hour: 9, repo: ledger, by: 'cleo', name: 'rope-costs', title: 'Rope costs twice as much as last year' },
    body: '@ada, did we order the right length?',
    labels: ['question'],
  },
  {
    ...{ days: 10, hour: 11, repo: engine, by: 'cleo', name: 'describe-store', title: 'Describe the store' },
    body: 'The notes describe the mill, but not where the numbers are kept.',
    labels: ['documentation'],
  },
  {
    ...{
      days: 33,
      hour: 16,
      repo: 'clockwork/ringer',
      by: 'greta',
      name: 'early',
      title: 'The six o’clock bell came four seconds early',
    },
    body: 'The dough was not ready. Could it be the clock of the server?\n\n```\n05:59:56 ring 5\n```',
    labels: ['bug'],
    comments: [
      [32, 9, 'hana', 'It asks the time once an hour only. @kofi, can the rope wait for the second?'],
      [30, 18, 'kofi', 'Yes, if somebody tells it which second.'],
    ],
  },
  {
    ...{ days: 90, hour: 15, repo: 'clockwork/escapement', by: 'ben', name: 'summer', title: 'Too exact in summer' },
    body: 'The simulation does not know that the rod grows in the heat. See `clockwork/measurements`.',
    labels: ['enhancement'],
    comments: [[51, 19, 'farid', 'The rod grows now. The mercury is next.']],
  },
  {
    ...{ days: 66, hour: 20, repo: 'ben/drift', by: 'juno', name: 'gaps', title: 'What about days without a reading?' },
    body: 'In my class project I skipped them. Is that right?',
    labels: ['good first issue', 'question'],
    comments: [[64, 18, 'ben', 'It is. Would you like to write that?']],
    closed: [14, 'ben'],
  },
]

const faults: [what: string, label: string, remedy: string][] = [
  ['squeaks when it turns', 'maintenance', 'Two drops of oil. Quiet now.'],
  ['has a loose bolt', 'maintenance', 'Tightened, and marked with paint so that we see when it turns.'],
  ['is missing from the drawings', 'heritage', 'Found in the archive, on the back of another sheet.'],
  ['needs a name plate', 'idea', 'Engraved and screwed on.'],
  ['is too cold to touch in winter', 'idea', 'Gloves hang beside it now.'],
  ['shows rust at the edge', 'maintenance', 'Brushed, primed and painted.'],
  ['was last checked eleven years ago', 'urgent', 'Checked. It is better than it looks.'],
]
const parts = [
  'The great wheel',
  'The clapper of the fourth bell',
  'The ladder to the roof',
  'The winding crank',
  'The rail of the stairs',
  'The minute hand',
  'The fly of the strike',
  'The frame of the second bell',
  'The pendulum rod',
  'The louvre on the north side',
  'The lamp in the clock room',
  'The weight of the going train',
]
const finders = ['esme', 'kofi', 'ada', 'ivo', 'greta', 'ada', 'lena', 'cleo', 'farid', 'ben']
const menders = ['kofi', 'esme', 'ada', 'cleo']

/** What people found on their rounds. Most of it is mended. */
function rounds(): Conversation[] {
  const random = numbersFrom(96)
  return Array.from({ length: 60 }, (_, index) => {
    const [what, label, remedy] = faults[(index * 3 + Math.floor(index / 7)) % faults.length] ?? ['', 'idea', '']
    const part = parts[(index * 5 + Math.floor(index / 12)) % parts.length] ?? ''
    const days = Math.max(2, 343 - Math.round(index * 5.7) - random(4))
    const [by, mender] = [finders[random(finders.length)] ?? 'ada', menders[random(menders.length)] ?? 'cleo']
    const mended = Math.max(1, days - 2 - random(20))
    const open = index > 52 || index % 13 === 5
    return {
      ...{
        days,
        hour: 7 + random(12),
        repo: tower,
        by,
        name: `round-${'abcdefghijklmnopqrstuvwxyz'[index % 26]}${'xyz'[Math.floor(index / 26)]}`,
      },
      title: `${part} ${what}`,
      body: `Seen on my round. ${index % 3 ? 'Nothing urgent, but it should not wait for winter.' : `@${mender}, can you have a look?`}`,
      ...{ labels: [label], assignees: open && index % 2 ? [] : [mender] },
      ...(index % 4 === 0 && days > 216 && { milestone: 'six-bells' }),
      ...(index % 4 === 0 && days < 205 && { milestone: 'quarters' }),
      ...(!open && { comments: [[mended, 20, mender, remedy]] as NonNullable<Conversation['comments']> }),
      ...(!open && {
        closed: (index % 11 === 3 ? [mended, 'cleo', 'not_planned'] : [mended, mender]) as NonNullable<Conversation['closed']>,
      }),
    }
  })
}

export const conversationScenes: Scene[] = [...written, ...rounds()].flatMap(
  ({ days, hour, repo, by, name, title, body, labels, assignees, milestone, comments = [], closed }) => {
    // Only people with triage access sort an issue, so somebody else does for the others.
    const sorter = repo.startsWith('clockwork/') ? 'cleo' : repo.startsWith('ada/') ? 'ada' : 'ben'
    const opened = scene(days, hour, async (stage) => {
      await openIssue(stage, by, repo, name, { title, body })
      stage.clock.advance(11)
      const sorted = {
        ...(labels && { labels }),
        ...(assignees && { assignees }),
        ...(milestone && { milestone: stage.numberOf(milestone) }),
      }
      if (Object.keys(sorted).length) await changeIssue(stage, sorter, repo, name, sorted)
    })
    const replies = comments.map(([days, hour, author, text, reacting]) =>
      scene(days, hour, async (stage) => {
        const { id } = await comment(stage, author, repo, name, text)
        if (reacting) await addReaction(stage, reacting, repo, id, 'heart')
      }),
    )
    return [
      opened,
      ...replies,
      ...(closed ? [scene(closed[0], 21, (stage) => closeIssue(stage, closed[1], repo, name, closed[2]))] : []),
    ]
  },
)
