import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '#platform/database.ts'
import { engine } from '#test/conversations.ts'
import { expect, type Forge, injecting } from '#test/forge.ts'
import { assertSettled, zeros } from '#test/git.ts'
import { openWithTopic, pullEvents } from '#test/pulls.ts'

const inject = injecting(openWithTopic)

/** Waits for every job of pull requests. */
async function idle({ belfry: { db } }: Forge) {
  for (let tries = 0; tries < 300; tries++) {
    const { rowCount } = await db.query(sql`
      select from graphile_worker.jobs where task_identifier in ('follow_branch', 'catch_up_pull')`)
    if (!rowCount) return
    await sleep(50)
  }
  throw new Error('jobs are left')
}

test('after consecutive pushes with concurrent jobs, the head is the last commit', async () => {
  await using forge = await openWithTopic({ worker: true })
  const { ada, work } = forge
  await forge.propose()
  let sha = ''
  for (let round = 0; round < 8; round++) {
    sha = await work.commit(`Round ${round}`, { 'rounds.txt': `${round}\n` })
    await work.push('topic')
  }
  await idle(forge)
  assert.partialDeepStrictEqual(await ada.read(`${engine}/pulls/1`), { head: { sha }, commits: 9, mergeable: true })
  assert.equal((await forge.belfry.storage.refsOf(forge.id)).get('refs/pull/1/head'), sha)
  await work.push('topic:main')
  await idle(forge)
  assert.partialDeepStrictEqual(await ada.read(`${engine}/pulls/1`), { merged: true, commits: 9, merge_commit_sha: sha })
  assert.deepEqual(await pullEvents(forge), ['ada opened 1', 'ada closed merged 1'])
})

test('a push concurrent with opening or reopening is not missed', inject(async ({ ada, work, propose, follow }) => {
  for (let round = 1; round <= 6; round++) {
    const branch = `branch-${round}`
    await work.git('checkout', '--quiet', '-b', branch, 'topic')
    await work.commit(`First ${round}`, { 'rounds.txt': `${round}\n` })
    await work.push(branch)
    const second = await work.commit(`Second ${round}`, { 'more.txt': `${round}\n` })
    await Promise.all([propose({ head: branch }), work.push(branch)])
    await follow()
    const path = `${engine}/pulls/${round}`
    assert.equal((await ada.read(path)).head.sha, second)
    await expect(200, await ada.patch(path, { state: 'closed' }))
    const third = await work.commit(`Third ${round}`, { 'third.txt': `${round}\n` })
    await Promise.all([ada.patch(path, { state: 'open' }), work.push(branch)])
    await follow()
    assert.partialDeepStrictEqual(await ada.read(path), { state: 'open', head: { sha: third } })
  }
}))

test('a push recorded between reading the branch and opening is followed', inject(async ({ forge, ada, work, id, topic }) => {
  const { db, storage } = forge.belfry
  const more = await work.commit('More', { 'more.txt': 'm\n' })
  await work.push('topic:refs/heads/more')
  const ref = 'refs/heads/topic'
  /** While others wait who have looked already, the branch moves and that is recorded. */
  const meanwhile = (before: string, after: string, act: () => Promise<Response>) =>
    db.transaction(async (transaction) => {
      await transaction.query(sql`select from repositories where id = ${id} for no key update`)
      const acting = act()
      const waits = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      for (let tries = 0; tries < 200 && !(await db.query(waits)).rowCount; tries++) await sleep(20)
      await storage.moveRefs(id, [{ ref, before, after }])
      await transaction.query(sql`update refs set sha = ${after} where repo_id = ${id} and name = ${ref}`)
      return { acting }
    })
  const wanted = { title: 'Notes', head: 'topic', base: 'main' }
  const opened = await meanwhile(topic, more, () => ada.post(`${engine}/pulls`, wanted))
  assert.equal((await expect(201, await opened.acting)).head.sha, more)
  await expect(200, await ada.patch(`${engine}/pulls/1`, { state: 'closed' }))
  const reopened = await meanwhile(more, topic, () => ada.patch(`${engine}/pulls/1`, { state: 'open' }))
  await expect(200, await reopened.acting)
  await forge.follow()
  assert.equal((await ada.read(`${engine}/pulls/1`)).head.sha, topic)
}))

test('of concurrent openings of the same pull request, one succeeds, and numbers have no gaps', inject(async (forge) => {
  const { ada, ben } = forge
  const wanted = { title: 'Notes', head: 'topic', base: 'main' }
  const answers = await Promise.all([ada, ben, ada, ben, ada].map((who) => who.post(`${engine}/pulls`, wanted)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422, 422])
  assert.equal((await forge.open()).number, 2)
}))

test('refs that a stopped server did not keep are kept after the restart', inject(async (forge) => {
  const { storage } = forge.belfry
  const ref = 'refs/pull/1/head'
  await forge.propose()
  await storage.moveRefs(forge.id, [{ ref, before: forge.topic, after: zeros }])
  await forge.follow()
  assert.equal((await storage.refsOf(forge.id)).get(ref), forge.topic)
}))

test('of concurrent merges one wins, and no push is lost', inject(async ({ forge, ada, ben, work, desk }) => {
  await forge.propose()
  const answers = await Promise.all(
    [ada, ben, ada, ben].map((who, index) =>
      who.put(`${engine}/pulls/1/merge`, { merge_method: index < 2 ? 'merge' : 'squash' }),
    ),
  )
  const won = answers.filter(({ ok }) => ok)
  assert.equal(won.length, 1)
  for (const { status } of answers) assert.ok([200, 405, 409].includes(status), `${status}`)
  const { sha } = (await (won[0] as Response).json()) as { sha: string }
  assert.partialDeepStrictEqual(await ada.read(`${engine}/pulls/1`), { merged: true, merge_commit_sha: sha })
  assert.deepEqual(await pullEvents(forge), ['ada opened 1', (await pullEvents(forge))[1]])

  await work.git('fetch', '--quiet')
  for (let round = 0; round < 3; round++) {
    await work.git('checkout', '--quiet', '-b', `race-${round}`, 'origin/main')
    await work.commit(`Race ${round}`, { [`race-${round}.txt`]: 'x\n' })
    await work.push(`race-${round}`)
    const { number } = await forge.propose({ head: `race-${round}` })
    const other = await desk.clone(ben, 'ada/engine')
    const pushed = await other.commit(`Push ${round}`, { [`push-${round}.txt`]: 'y\n' })
    const [ended, answer] = await Promise.all([
      other.attempt('push', '--quiet', 'origin', 'main'),
      ada.put(`${engine}/pulls/${number}/merge`),
    ])
    assert.ok(answer.ok || answer.status === 409)
    assert.ok(answer.ok || ended.status === 0, 'one of them gets through')
    await work.git('fetch', '--quiet')
    const contained = async (name: string) =>
      (await work.attempt('merge-base', '--is-ancestor', name, 'origin/main')).status === 0
    if (ended.status === 0) assert.ok(await contained(pushed), 'a push that was taken is there')
    assert.equal(await contained(`origin/race-${round}`), answer.ok)
    assert.equal((await ada.read(`${engine}/pulls/${number}`)).merged, answer.ok)
  }
  await assertSettled(forge, forge.id)
}))
