import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadDemo } from '#demo/demo.ts'
import { diaryScenes } from '#demo/diary.ts'
import { gather } from '#demo/people.ts'
import { timeOf } from '#demo/scenes.ts'
import { loadAccount } from '#identity/accounts.ts'
import { closeIssue, comment, mergeInto, openIssue, openPull } from '#seed/acting.ts'
import { append, Stage, StoryClock } from '#seed/stage.ts'
import { keepState } from '#web/page-states.ts'
import { type Forge, linesOf, openForge } from './forge.ts'
import { Guest } from './guest.ts'

const day = 86_400_000

async function openStage(forge: Forge, days: number) {
  const stage = new Stage(forge.belfry, new StoryClock(new Date(forge.clock.now().getTime() - days * day)))
  await gather(stage, 'no password')
  return stage
}

const dateOf = ({ created_at }: { created_at: string }) => created_at.slice(0, 10)

test('the acts of a story are in timelines, inboxes and git at the times of the story', async () => {
  await using forge = await openForge()
  {
    await using stage = await openStage(forge, 40)
    await stage.createRepository('ada', 'ada/engine', { description: 'An engine' })
    await stage.push('ada', 'ada/engine', [{ message: 'Begin', files: { 'README.md': '# engine\n' } }])
    stage.clock.advance(24 * 60)
    await openIssue(stage, 'ben', 'ada/engine', 'noise', { title: 'It rattles', body: '@ada, listen' })
    await openPull(stage, 'ada', 'ada/engine', 'oil', {
      ...{ title: 'Oil it', body: 'Fixes {noise}', branch: 'oil' },
      commits: [{ message: 'Oil it', files: { 'README.md': append('Oiled.\n') } }],
    })
    await mergeInto(stage, 'ada', 'ada/engine', 'oil', 'oil', 'squash')
    await comment(stage, 'cleo', 'ada/engine', 'noise', 'Quiet since {oil}.')
    await closeIssue(stage, 'ada', 'ada/engine', 'noise')
    await stage.push('ada', 'ada/engine', [{ message: 'Oil it again', files: { 'README.md': append('Twice.\n') } }])
    await stage.notify()
  }
  const ada = await forge.tokenFor('ada', ['repo', 'notifications'])
  const events = await ada.read('/repos/ada/engine/events')
  assert.ok(events.length > 8)
  const [first, second] = [40, 39].map((days) => new Date(forge.clock.now().getTime() - days * day).toISOString().slice(0, 10))
  assert.deepEqual([...new Set(events.map(dateOf))], [second, first])
  const file = await ada.read('/repos/ada/engine/contents/README.md')
  assert.equal(Buffer.from(file.content, 'base64').toString(), '# engine\nOiled.\nTwice.\n')
  const [issue] = await ada.read('/repos/ada/engine/issues?state=closed&sort=created&direction=asc')
  assert.deepEqual([issue.title, issue.state, issue.comments, issue.closed_at.slice(0, 10)], ['It rattles', 'closed', 1, second])
  const threads = await ada.read('/notifications')
  assert.deepEqual(linesOf(threads, 'subject.title', 'reason'), ['It rattles mention'])
  assert.equal(threads[0].updated_at.slice(0, 10), second)
})

test('each push of a diary is an event of its day, by its writer', async () => {
  await using forge = await openForge()
  await using stage = await openStage(forge, 20)
  const write = (days: number, by: string) => ({
    ...{ days, hour: 9, by },
    commits: [{ message: `Day ${days}`, files: { 'diary.md': append(`${days}\n`) } }],
  })
  for (const scene of diaryScenes('cleo/diary', 'cleo', { description: 'A diary', topics: [] }, [
    write(3, 'ada'),
    write(5, 'cleo'),
  ])) {
    stage.clock.moveTo(timeOf(scene, stage.end))
    await scene.play(stage)
  }
  const events = await forge.nobody.read('/repos/cleo/diary/events')
  const pushes = events.filter(({ type }: { type: string }) => type === 'PushEvent')
  assert.deepEqual(linesOf(pushes, 'actor.login', 'payload.size'), ['ada 1', 'cleo 1'])
  assert.notEqual(dateOf(pushes[0]), dateOf(pushes[1]))
  const { content } = await forge.nobody.read('/repos/cleo/diary/contents/diary.md')
  assert.equal(Buffer.from(content, 'base64').toString(), '5\n3\n')
})

test('a sign-in link opens a session once, and for a day', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const { db, vault } = forge.belfry
  const ada = await loadAccount(db, 'ada')
  const [used, old] = [await keepState(db, vault, ada, 'sign_in', {}), await keepState(db, vault, ada, 'sign_in', {})]
  const [guest, other] = [new Guest(forge), new Guest(forge)]
  const preview = await new Guest(forge, { 'sec-purpose': 'prefetch;prerender' }).get(`/login/once/${used}`)
  assert.deepEqual(
    [preview.status, preview.headers.getSetCookie().some((line) => line.startsWith('belfry_session'))],
    [200, false],
  )
  const { status, location } = await guest.get(`/login/once/${used}`)
  assert.deepEqual([status, location], [303, '/'])
  assert.match((await guest.get('/settings/profile')).text, /ada/)
  const again = await other.get(`/login/once/${used}`)
  assert.equal(again.status, 410)
  assert.match(again.text, /This link is used up/)
  assert.equal((await other.get('/settings/profile')).status, 303)
  forge.clock.advance(day + 1)
  assert.equal((await other.get(`/login/once/${old}`)).status, 410)
})

test('a demo whose load was interrupted says so, and can be entered', async () => {
  await using forge = await openForge()
  const { belfry } = forge
  const stopping = new AbortController()
  const load = loadDemo(belfry, { signal: stopping.signal, onMonth: () => stopping.abort() })
  await assert.rejects(load, { name: 'AbortError' })
  const access = await loadDemo(belfry)
  assert.equal(access?.password, undefined)
  const ada = await new Guest(forge).get(access?.links.ada ?? '')
  assert.deepEqual([ada.status, ada.location], [303, '/'])
  assert.equal(await loadDemo(belfry), null)
})
