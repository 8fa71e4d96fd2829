import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadDemo } from '#demo/demo.ts'
import { git } from '#git/git.ts'
import { openForge } from './forge.ts'
import { Guest } from './guest.ts'
import { told } from './inbox.ts'

test('the demo loads users, an organization with a team, and repositories with activity, and loads them once', async () => {
  await using forge = await openForge({ worker: true })
  const demo = await loadDemo(forge.belfry)
  const { password, tokens } = demo ?? { password: '', tokens: {} as Record<string, string> }
  const ada = forge.nobody.with({ authorization: `token ${tokens.ada}` })
  assert.equal((await ada.read('/user')).name, 'Ada Byron')
  assert.equal((await ada.read('/users/ada')).followers, 3)
  const engine = await forge.nobody.read('/repos/ada/engine')
  assert.equal(engine.stargazers_count, 3)
  assert.ok(engine.size > 0)
  const log = await git(['-C', forge.belfry.storage.pathOf(engine.id), 'log', '--format=%an: %s', 'main'])
  assert.deepEqual(log.trim().split('\n'), ['Ben Okafor: Count from nought', 'Ada Byron: Describe the mill', 'Ada Byron: Begin'])
  assert.equal((await forge.nobody.get('/repos/clockwork/ledger')).status, 404)
  assert.equal((await ada.read('/repos/clockwork/ledger')).permissions.push, true)
  assert.deepEqual(
    (await ada.read('/orgs/clockwork/teams')).map((team: { slug: string }) => team.slug),
    ['ringers'],
  )
  const events: { type: string; actor: { login: string } }[] = await forge.nobody.read('/repos/ada/engine/events')
  assert.ok(events.some(({ type, actor }) => type === 'PushEvent' && actor.login === 'ben'))
  for (const kind of ['CreateEvent', 'WatchEvent', 'ForkEvent'])
    assert.ok(
      events.some(({ type }) => type === kind),
      kind,
    )
  await told(forge)
  const threads: { subject: { title: string; type: string }; reason: string }[] = await ada.read('/notifications')
  assert.deepEqual(threads.map(({ subject, reason }) => [subject.type, subject.title, reason]).sort(), [
    ['Issue', 'Describe the store', 'subscribed'],
    ['Issue', 'Replace the rope of the third bell', 'assign'],
    ['Issue', 'Rope costs twice as much as last year', 'mention'],
    ['Issue', 'Strike the quarters too', 'author'],
    ['Issue', 'The mill turns backwards', 'mention'],
    ['Issue', 'Who rings at noon?', 'team_mention'],
    ['PullRequest', 'Let the mill turn both ways', 'mention'],
    ['Release', 'Six bells', 'subscribed'],
  ])
  for (const login of Object.keys(tokens)) assert.equal((await new Guest(forge).signIn(login, password)).status, 303, login)
  assert.equal(await loadDemo(forge.belfry), null)
})
