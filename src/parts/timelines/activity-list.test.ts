import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupEvents } from './groups.ts'
import type { EventRecord } from './records.ts'
import { activityList } from './views/activity-list.ts'

const people = ['ada', 'ben', 'cleo', 'dmitri', 'eva', 'finn']
let id = 1000

/** An event in `ada/REPO`, a minute older than the one before it. */
function event(type: string, actor: string, payload: object = {}, repo = 'engine', more: Partial<EventRecord> = {}): EventRecord {
  id -= 1
  const names = {
    actor_id: people.indexOf(actor) + 1,
    actor_login: actor,
    repo_id: repo.length,
    repo_name: repo,
    owner_login: 'ada',
  }
  return { event: { id, type, payload, created_at: new Date(id * 60_000), ...names } as never, ...more }
}

const push = (actor: string, size: number, ref = 'refs/heads/main') =>
  event('PushEvent', actor, {
    ...{ ref, size, before: 'a'.repeat(40), head: 'b'.repeat(40) },
    commits: Array.from({ length: size }, (_, index) => ({ sha: `${index}`.repeat(40), message: `Step ${index}\n\nMore` })),
  })

/** The sentences, without markup. */
const linesOf = (events: EventRecord[]) =>
  [...activityList(events).text.matchAll(/<p class="activity-sentence"><span>(.*?)<\/span> <a/gs)].map(([, line = '']) =>
    line.replaceAll(/<[^>]+>/g, ''),
  )

test('events that stand next to each other and are alike become one line', () => {
  const label = (name: string) =>
    event('IssuesEvent', 'ada', { action: 'labeled' }, 'engine', {
      label: { name } as never,
      issue: { number: 3, title: 'Slow', pull_id: null } as never,
    })
  const events = [
    ...people.slice(1).map((name) => event('WatchEvent', name)),
    event('CreateEvent', 'ada', { ref: 'one', ref_type: 'branch' }),
    event('CreateEvent', 'ada', { ref: 'two', ref_type: 'branch' }),
    push('ada', 1),
    push('ben', 2),
    push('ben', 1, 'refs/heads/other'),
    event('WatchEvent', 'ben', {}, 'notes'),
    event('WatchEvent', 'ben', {}, 'diaries'),
    event('WatchEvent', 'cleo', {}, 'diaries'),
    label('bug'),
    label('ui'),
    event('ForkEvent', 'cleo', {}),
    event('PublicEvent', 'cleo', {}),
  ]
  assert.deepEqual(linesOf(events), [
    'ben, cleo and 3 others starred ada/engine',
    'ada created 2 branches: one and two in ada/engine',
    'ada and ben pushed 3 commits to main in ada/engine',
    'ben pushed 1 commit to other in ada/engine',
    'ben starred ada/notes and ada/diaries',
    'cleo starred ada/diaries',
    'ada added the labels bug and ui to issue #3 in ada/engine',
    'cleo forked ada/engine',
    'cleo made ada/engine public',
  ])
})

test('what another event of the same act says is left out', () => {
  const issue = { number: 3, title: 'Slow', pull_id: null } as never
  const events = [
    event('IssuesEvent', 'ada', { action: 'labeled' }, 'engine', { issue, label: { name: 'bug' } as never }),
    event('IssuesEvent', 'ada', { action: 'opened' }, 'engine', { issue }),
    event('ReleaseEvent', 'ada', {}, 'engine', { release: { tag_name: 'v1', name: 'One' } as never }),
    event('CreateEvent', 'ada', { ref: 'v1', ref_type: 'tag' }),
    event('CreateEvent', 'ben', { ref: 'v1', ref_type: 'tag' }),
    push('cleo', 1),
    event('CreateEvent', 'cleo', { ref: 'main', ref_type: 'branch' }),
  ]
  for (const { event } of events) event.created_at = new Date(1_000_000)
  assert.deepEqual(linesOf(events), [
    'ada opened issue #3 in ada/engine',
    'ada published release v1 in ada/engine',
    'ben created a tag v1 in ada/engine',
    'cleo pushed 1 commit to main in ada/engine',
  ])
})

test('stars more than a day apart are two lines', () => {
  const [late, early] = [event('WatchEvent', 'ben'), event('WatchEvent', 'cleo')]
  early.event.created_at = new Date(late.event.created_at.getTime() - 25 * 3_600_000)
  assert.equal(groupEvents([late, early]).length, 2)
})

test('a push shows its newest commits as links, and hostile text stays text', () => {
  const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(1)>`
  const { text } = activityList([
    push('ada', 5),
    event('IssueCommentEvent', 'ben', { comment_id: 7 }, 'engine', {
      issue: { number: 3, title: hostile, pull_id: null } as never,
      comment: { body: hostile } as never,
    }),
    event('DeleteEvent', 'ada', { ref: hostile, ref_type: 'tag' }),
    event('CreateEvent', 'ada', { ref: hostile, ref_type: 'branch' }),
  ])
  const commits = [...text.matchAll(/href="\/ada\/engine\/commit\/(\d)\d+">/g)].map(([, sha]) => sha)
  assert.deepEqual(commits, ['4', '3', '2'])
  assert.match(text, /2 more commits/)
  assert.match(text, /href="\/ada\/engine\/issues\/3#issuecomment-7"/)
  assert.ok(!text.includes('<script') && !text.includes('<img src=x'))
})
