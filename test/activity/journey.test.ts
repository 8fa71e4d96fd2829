import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Forge, openForge, type Person, pick } from '#test/forge.ts'
import { Desk } from '#test/git.ts'
import { Octokit } from '#test/octokit.ts'
import { second, type Told, tell, type Variant, variants } from './variants.ts'

/** All that happens in the journey, as the log has it: newest first. */
const happened = [
  'cy WatchEvent in acme/plans (acme)',
  'ada PushEvent main in acme/vault (acme) privately',
  'ada CreateEvent main in acme/vault (acme) privately',
  'ada PublicEvent in ada/secret',
  'ada ReleaseEvent v1 in ada/engine',
  'ada CreateEvent v1 in ada/engine',
  'ada DeleteEvent topic in ada/engine',
  'ada MemberEvent ben in ada/secret privately',
  'ben ForkEvent in ada/engine',
  'ben WatchEvent in ada/engine',
  'ada PushEvent main in ada/secret privately',
  'ada CreateEvent main in ada/secret privately',
  'ada PushEvent topic in ada/engine',
  'ada CreateEvent topic in ada/engine',
  'ada PushEvent main in ada/engine',
  'ada PushEvent main in ada/engine',
  'ada CreateEvent main in ada/engine',
  'ada CreateEvent in acme/vault (acme) privately',
  'ada CreateEvent in acme/plans (acme)',
  'ada CreateEvent in ada/secret privately',
  'ada CreateEvent in ada/engine',
]
const open = happened.filter((line) => !line.endsWith('privately'))

const connect = (baseUrl: string, auth?: string) => new Octokit({ baseUrl, auth }).rest

/** Ada hosts an engine and a secret, and runs acme with Ben; Cy is from elsewhere. */
async function travel(forge: Forge, { base }: Variant) {
  const client = ({ token }: Person) => connect(base(forge), token)
  const people = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')] as const
  const [ada, ben, cy] = people.map(client) as [Octokit['rest'], Octokit['rest'], Octokit['rest']]
  await forge.organization('acme', people[0])
  await ada.orgs.setMembershipForUser({ org: 'acme', username: 'ben' })
  const later = () => forge.clock.advance(second)
  const engine = { owner: 'ada', repo: 'engine' }
  const secret = { owner: 'ada', repo: 'secret' }
  const plans = { owner: 'acme', repo: 'plans' }

  await ada.repos.createForAuthenticatedUser({ name: 'engine', description: 'It <computes> & prints' })
  later()
  await ada.repos.createForAuthenticatedUser({ name: 'secret', private: true })
  later()
  await ada.repos.createInOrg({ org: 'acme', name: 'plans' })
  later()
  await ada.repos.createInOrg({ org: 'acme', name: 'vault', private: true })
  later()

  await using desk = await Desk.open(forge)
  const work = await desk.begin(people[0], 'ada/engine')
  const commits = [await work.commit('Draw it'), await work.commit('Build it')]
  await work.push('main')
  later()
  commits.push(await work.commit('Turn the crank'))
  await work.push('main')
  later()
  await work.git('checkout', '--quiet', '-b', 'topic')
  commits.push(await work.commit('Try steam'))
  await work.push('topic')
  later()
  const hidden = await desk.begin(people[0], 'ada/secret')
  await hidden.commit('Whisper')
  await hidden.push('main')
  later()

  await ben.activity.starRepoForAuthenticatedUser(engine)
  later()
  await ben.repos.createFork(engine)
  await ben.users.follow({ username: 'ada' })
  await ben.activity.setRepoSubscription({ ...plans, subscribed: true })
  later()
  await ada.repos.addCollaborator({ ...secret, username: 'ben' })
  const { data: invitations } = await ben.repos.listInvitationsForAuthenticatedUser()
  await ben.repos.acceptInvitationForAuthenticatedUser({ invitation_id: invitations[0]?.id ?? 0 })
  later()
  await work.push('--delete', 'topic')
  later()
  await ada.repos.createRelease({ ...engine, tag_name: 'v1', name: 'The first' })
  later()
  await ada.repos.update({ ...secret, private: false })
  later()
  const vault = await desk.begin(people[0], 'acme/vault')
  await vault.commit('Lock it')
  await vault.push('main')
  later()
  await cy.activity.starRepoForAuthenticatedUser(plans)
  return { ada, ben, cy, commits }
}

for (const variant of variants) {
  test(`what happens is in each of the nine timelines it belongs to, for those who may see it, on the ${variant.name} variant`, async () => {
    await using forge = await openForge()
    const { ada, ben, cy, commits } = await travel(forge, variant)
    const nobody = connect(variant.base(forge))
    const lines = async (answer: Promise<{ data: unknown }>) => ((await answer).data as Told[]).map(tell)
    const expects = async (what: string, answer: Promise<{ data: unknown }>, expected: string[]) =>
      assert.deepEqual(await lines(answer), expected, what)
    const everyone = { ada, ben, cy, nobody }
    const others = { ben, cy, nobody }

    const all = (who: Octokit['rest']) => who.activity.listEventsForAuthenticatedUser({ username: 'ada' })
    await expects(
      'Ada’s own',
      all(ada),
      happened.filter((line) => line.startsWith('ada ')),
    )
    for (const [name, client] of Object.entries(others)) {
      await expects(
        `Ada’s for ${name}`,
        all(client),
        open.filter((line) => line.startsWith('ada ')),
      )
    }

    for (const [name, client] of Object.entries(everyone)) {
      const { activity } = client
      const ofAda = open.filter((line) => line.startsWith('ada '))
      await expects(`Ada’s public ones for ${name}`, activity.listPublicEventsForUser({ username: 'ada' }), ofAda)
      const ofAcme = open.filter((line) => line.includes('acme/'))
      await expects(`the organization’s for ${name}`, activity.listPublicOrgEvents({ org: 'acme' }), ofAcme)
      const ofEngine = open.filter((line) => line.includes('ada/engine'))
      await expects(`the engine’s for ${name}`, activity.listRepoEvents({ owner: 'ada', repo: 'engine' }), ofEngine)
      for (const owner of ['ada', 'ben']) {
        const network = activity.listPublicEventsForRepoNetwork({ owner, repo: 'engine' })
        await expects(`the network’s of ${owner}/engine for ${name}`, network, ofEngine)
      }
    }

    const ofSecret = happened.filter((line) => line.includes('ada/secret'))
    for (const [name, client] of Object.entries(everyone)) {
      const expected = name === 'ada' || name === 'ben' ? ofSecret : ofSecret.filter((line) => open.includes(line))
      await expects(`the secret’s for ${name}`, client.activity.listRepoEvents({ owner: 'ada', repo: 'secret' }), expected)
    }
    const vault = { owner: 'acme', repo: 'vault' }
    const ofVault = happened.filter((line) => line.includes('acme/vault'))
    for (const client of [ada, ben]) await expects('the vault’s', client.activity.listRepoEvents(vault), ofVault)
    for (const client of [cy, nobody]) await assert.rejects(client.activity.listRepoEvents(vault), { status: 404 })
    for (const client of [cy, nobody]) {
      await assert.rejects(client.activity.listPublicEventsForRepoNetwork(vault), { status: 404 })
    }
    await expects('its public ones', ada.activity.listPublicEventsForRepoNetwork(vault), [])

    const dashboard = (who: Octokit['rest'], username: string) =>
      who.activity.listOrgEventsForAuthenticatedUser({ username, org: 'acme' })
    const ofAcme = happened.filter((line) => line.includes('acme/'))
    await expects('Ada’s dashboard', dashboard(ada, 'ada'), ofAcme)
    await expects('Ben’s dashboard', dashboard(ben, 'ben'), ofAcme)
    const admin = connect(variant.base(forge), forge.admin.token)
    for (const client of [ben, cy, nobody, admin]) await assert.rejects(dashboard(client, 'ada'), { status: 404 })
    await assert.rejects(dashboard(cy, 'cy'), { status: 404 })

    // Ben watches his fork, the plans and the secret, and follows Ada; the vault he sees as a member.
    const comes = happened.filter((line) => line.startsWith('ada ') || line.includes('acme/plans'))
    const received = (who: Octokit['rest']) => who.activity.listReceivedEventsForUser({ username: 'ben' })
    await expects('what Ben receives', received(ben), comes)
    for (const client of [ada, cy, nobody]) {
      await expects(
        'what others see of it',
        received(client),
        comes.filter((line) => open.includes(line)),
      )
    }
    for (const client of Object.values(everyone)) {
      const openly = client.activity.listReceivedPublicEventsForUser({ username: 'ben' })
      await expects(
        'what Ben receives of public things',
        openly,
        comes.filter((line) => open.includes(line)),
      )
    }

    await expects('everyone’s, too early', nobody.activity.listPublicEvents(), [])
    forge.clock.advance(variant.delay - second)
    await expects('all but the newest', nobody.activity.listPublicEvents({ per_page: 100 }), open.slice(1))
    forge.clock.advance(second)
    await expects('everyone’s', ada.activity.listPublicEvents({ per_page: 100 }), open)

    const { data } = await nobody.activity.listRepoEvents({ owner: 'ada', repo: 'engine' })
    assertPushes(data as unknown as Pushed[], commits, variant, `${variant.base(forge)}/repos/ada/engine`)
  })
}

interface Pushed {
  type: string
  payload: {
    before: string
    head: string
    push_id: number
    repository_id: number
    size?: number
    commits?: { sha: string; url: string }[]
  }
}

/** A push is told with its commits on the self-hosted variant, and without them on the other. */
function assertPushes(events: Pushed[], [first, second, third, fourth]: string[], variant: Variant, url: string) {
  const pushes = events.filter(({ type }) => type === 'PushEvent').map(({ payload }) => payload)
  const none = '0'.repeat(40)
  assert.deepEqual(pick(pushes, 'before', 'head'), [
    [none, fourth],
    [second, third],
    [none, second],
  ])
  assert.equal(new Set(pushes.map(({ push_id }) => push_id)).size, 3)
  const brought = [[fourth], [third], [first, second]]
  for (const [index, push] of pushes.entries()) {
    const keys = ['before', 'head', 'push_id', 'ref', 'repository_id']
    if (variant.name === 'versioned') {
      assert.deepEqual(Object.keys(push).sort(), keys.sort())
      continue
    }
    assert.deepEqual(Object.keys(push).sort(), [...keys, 'size', 'distinct_size', 'commits'].sort())
    assert.equal(push.size, brought[index]?.length)
    assert.deepEqual(
      push.commits?.map((commit) => [commit.sha, commit.url]),
      brought[index]?.map((sha) => [sha, `${url}/commits/${sha}`]),
    )
  }
}
