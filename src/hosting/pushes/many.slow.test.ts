import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { settleAll } from '#hosting/pushes/pushes.ts'
import { sql } from '#platform/database.ts'
import { expect, injecting } from '#test/forge.ts'
import { assertSettled, openEngine, pkt, type Worktree, zeros } from '#test/git.ts'

const inject = injecting(openEngine)

/** So many branches, each with a commit of its own on top of the first; by one git. */
async function makeBranches(work: Worktree, branches: number) {
  const commits = Array.from({ length: branches }, (_, number) => {
    const message = `Number ${number}`
    const who = `ada <ada@example.com> ${1_700_000_000 + number} +0000`
    return `commit refs/heads/b${number}\ncommitter ${who}\ndata ${message.length}\n${message}\nfrom refs/heads/main^0\n\n`
  })
  await writeFile(join(work.folder, 'stream'), commits.join(''))
  await work.git('-c', 'alias.load=!git fast-import --quiet < stream', 'load')
}

test('a push of many branches is recorded by a few git processes', inject(async ({ work, forge, id }) => {
  await work.commit('Begin')
  await makeBranches(work, 300)
  let processes = 0
  const count = () => {
    processes++
  }
  subscribe('belfry:launcher:launched', count)
  await work.git('push', '--quiet', 'origin', 'refs/heads/*:refs/heads/*')
  unsubscribe('belfry:launcher:launched', count)
  assert.ok(processes > 10 && processes < 100, `${processes}`)
  await assertSettled(forge, id)
  type Pushed = { payload: { ref: string; size: number; distinct_size: number; commits: { message: string }[] } }
  const pushed = await forge.belfry.db.rows<Pushed>(sql`select payload from events where type = 'PushEvent' order by id`)
  // The first brings the commit that they share, so that of the branch with nothing else is none.
  assert.equal(pushed.length, 300)
  for (const [index, { payload }] of pushed.entries()) {
    const { ref, size, distinct_size, commits } = payload
    assert.deepEqual([size, distinct_size, commits.length], Array(3).fill(index === 0 ? 2 : 1), ref)
    assert.equal(commits.at(-1)?.message, `Number ${ref.slice('refs/heads/b'.length)}`)
  }
}))

test('a push of many branches is recorded in steps, each ref once, also when a step fails', inject(async ({
  work,
  forge,
  id,
  ada,
}) => {
  const { db, storage } = forge.belfry
  const hook = { config: { url: 'http://127.0.0.1:49999/' }, events: ['push', 'create'] }
  await expect(201, await ada.post('/repos/ada/engine/hooks', hook))
  await work.commit('Begin')
  await makeBranches(work, 450)
  // The second step fails once.
  await db.query(sql`
    create function refuse() returns trigger language plpgsql as
    'begin if new.name = ''refs/heads/b307'' then raise exception ''refused''; end if; return new; end'`)
  await db.query(sql`create trigger refuse before insert on refs for each row execute function refuse()`)
  assert.notEqual((await work.attempt('push', 'origin', 'refs/heads/*:refs/heads/*')).status, 0)
  const recorded = async () =>
    (await db.load<{ total: number }>(sql`select count(*) as total from refs where repo_id = ${id}`)).total
  assert.equal(await recorded(), 200)
  assert.equal((await ada.read('/repos/ada/engine')).default_branch, 'main')
  await db.query(sql`drop trigger refuse on refs`)
  await db.query(sql`drop function refuse`)
  assert.deepEqual(await settleAll(db, storage), [])
  await assertSettled(forge, id)
  assert.equal(await recorded(), 451)
  type Counts = { events: number; created: number; payloads: number; most: number }
  const counts = await db.load<Counts>(sql`
    select (select count(distinct payload->>'ref') from events where type = 'PushEvent') as events,
      (select count(*) from events where type = 'CreateEvent' and payload->>'ref_type' = 'branch') as created,
      (select count(*) from payloads where event in ('push', 'create')) as payloads,
      (select max(n) from (select count(*) as n from refs where repo_id = ${id} group by xmin::text) steps) as most`)
  assert.deepEqual(counts, { events: 450, created: 451, payloads: 902, most: 200 })
}))

test('a push of more refs than the limit is refused and not stored', inject(async (engine) => {
  const { forge, ada, work } = engine
  const begin = await work.commit('Begin')
  await work.push()
  const commands = Array.from({ length: 10_001 }, (_, number) => pkt(`${zeros} ${begin} refs/tags/t${number}`))
  const answer = await fetch(`${forge.web}/ada/engine.git/git-receive-pack`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.token}` },
    body: `${commands.join('')}0000`,
  })
  assert.equal(answer.status, 413)
  assert.equal(await answer.text(), 'A push moves at most 10000 refs: push them in parts.\n')
  assert.deepEqual(await forge.belfry.db.rows(sql`select * from pushes`), [])
}))

test('a page of pushes with long messages stays small', inject(async ({ forge, ada, work }) => {
  const message = join(work.folder, 'message')
  await writeFile(message, 'm'.repeat(40_000))
  for (let turn = 0; turn < 25; turn++) await work.git('commit', '--quiet', '--allow-empty', '-F', message)
  await work.push()
  const text = await (await ada.get('/repos/ada/engine/events')).text()
  assert.ok(text.length < 40_000, `${text.length}`)
  const [push] = JSON.parse(text)
  assert.deepEqual([push.payload.size, push.payload.commits.length], [25, 20])
  assert.equal(push.payload.commits.at(-1).message.length, 4096)
  assert.equal(push.payload.commits[0].message, '')
  const [stored] = await forge.belfry.db.rows<{ size: number }>(
    sql`select length(payload::text) as size from events where type = 'PushEvent'`,
  )
  assert.ok((stored?.size ?? 0) < 32_768)
}))
