import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { engine } from '#test/conversations.ts'
import { expect, type Forge, injecting } from '#test/forge.ts'
import { assertSettled, installHook, pkt } from '#test/git.ts'
import { processesIn, until } from '#test/machine.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)

type Scene = Awaited<ReturnType<typeof openWithTopic>> & { forge: Forge }

/** The end of a pack, without which git does not have it. */
const trailer = 20

/** Sends a push to the branch topic but for the last bytes of its pack, and garbage after them, which must not replace the check. */
async function beginPush({ forge, ben: { token }, work, topic, id }: Scene) {
  await work.git('checkout', '--quiet', topic)
  const head = await work.commit('Late', { 'late.bin': randomBytes(1 << 16) })
  const hash = await work.git('pack-objects', '--all', '--quiet', 'late')
  const pack = await readFile(join(work.folder, `late-${hash}.pack`))
  const pushing = request(`${forge.web}/ada/engine.git/git-receive-pack`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  pushing.write(`${pkt(`${topic} ${head} refs/heads/topic\0report-status side-band-64k`)}0000`)
  pushing.write(pack.subarray(0, -trailer))
  await until('git is at work', () => processesIn(forge.belfry.storage.pathOf(id)).length > 0)
  return async () => {
    pushing.end(Buffer.concat([pack.subarray(-trailer), Buffer.from('ok\n'.repeat(1000))]))
    const [response]: IncomingMessage[] = await once(pushing, 'response')
    return response ? text(response) : ''
  }
}

const nothing = {
  required_status_checks: null,
  enforce_admins: null,
  required_pull_request_reviews: null,
  restrictions: null,
}
const lost: [name: string, message: RegExp, act: (scene: Scene) => Promise<unknown>][] = [
  ['the collaborator is removed', /Must have push access/, ({ ada }) => ada.delete(`${engine}/collaborators/ben`)],
  [
    'the repository becomes private, without access',
    /Repository not found/,
    async ({ ada }) => {
      await ada.delete(`${engine}/collaborators/ben`)
      await ada.patch(engine, { private: true })
    },
  ],
  ['the repository is archived', /archived/, ({ ada }) => ada.patch(engine, { archived: true })],
  ['the account is suspended', /Bad credentials/, ({ admin }) => admin.put('/users/ben/suspended')],
  [
    'the token is revoked',
    /Bad credentials/,
    async ({ admin }) => expect(204, await admin.delete('/admin/users/ben/authorizations')),
  ],
  [
    'the branch becomes protected',
    /The protection of a branch changed while the push arrived/,
    async ({ ada }) => expect(200, await ada.put(`${engine}/branches/topic/protection`, { ...nothing, lock_branch: true })),
  ],
]

for (const [name, message, act] of lost) {
  test(`a push moves nothing if ${name} while its pack arrives`, inject(async (scene) => {
    const { forge, topic, id } = scene
    const finish = await beginPush(scene)
    await act(scene)
    const answer = await finish()
    assert.match(answer, message)
    assert.match(answer, /ng refs\/heads\/topic/)
    assert.equal((await forge.belfry.storage.refsOf(id)).get('refs/heads/topic'), topic)
    await assertSettled(forge, id)
  }))
}

test('a push whose pack arrives slowly succeeds while its access lasts', inject(async (scene) => {
  const finish = await beginPush(scene)
  assert.match(await finish(), /ok refs\/heads\/topic/)
  await assertSettled(scene.forge, scene.id)
}))

test("access is checked after an operator's hook, which may take long", inject(async ({ forge, ada, ben, desk, id }) => {
  const [reached, go] = [join(desk.folder, 'reached'), join(desk.folder, 'go')]
  const script = `touch "${reached}"; until [ -e "${go}" ]; do sleep 0.02; done`
  await installHook(forge.belfry.storage.pathOf(id), 'pre-receive', script)
  const bens = await desk.clone(ben, 'ada/engine')
  await bens.commit('Late')
  const pushing = bens.attempt('push', 'origin', 'HEAD:refs/heads/late')
  await until('the hook is reached', () => existsSync(reached))
  await expect(204, await ada.delete(`${engine}/collaborators/ben`))
  await writeFile(go, '')
  const { status, stderr } = await pushing
  assert.equal(status, 1)
  assert.match(stderr, /remote: error: Must have push access/)
  assert.ok(!(await forge.belfry.storage.hasBranch(id, 'late')))
}))
