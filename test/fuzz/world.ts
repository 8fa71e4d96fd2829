import { createHash } from 'node:crypto'
import { expect, type Forge, openForge, type Person } from '#test/forge.ts'

/** Texts that only ada may see, each with a name that says where it is. */
export class Markers {
  readonly #seed: number
  readonly #names = new Map<string, string>()

  constructor(seed: number) {
    this.#seed = seed
  }

  /** A text that nobody can guess, the same for each seed. */
  make(name: string) {
    const text = `mk${createHash('sha256').update(`${this.#seed} ${name}`).digest('hex').slice(0, 24)}`
    this.#names.set(text, name)
    return text
  }

  /** Something that the server made and that only ada may see, such as her token. */
  add(name: string, text: string) {
    this.#names.set(text, name)
  }

  /** The names of markers in a text. */
  in(text: string): string[] {
    return [...this.#names].flatMap(([marker, name]) => (text.includes(marker) ? name : []))
  }
}

export interface World extends Forge {
  ada: Person
  ben: Person
  markers: Markers
}

/**
 * ada has a private repository, a private organization with a secret team, keys and hooks; ben has what he needs to act, and no access
 * to any of it. Both have public repositories.
 */
export async function openWorld(seed: number): Promise<World> {
  const forge = await openForge({ own_database: true })
  try {
    return await fill(forge, seed)
  } catch (error) {
    await forge[Symbol.asyncDispose]()
    throw error
  }
}

async function fill(forge: Forge, seed: number): Promise<World> {
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  const markers = new Markers(seed)
  await forge.organization('acme', ada)
  await forge.organization('bens', ben)
  const text = (name: string) => `confidential ${markers.make(name)}`
  const make = async (path: string, body: Record<string, unknown>) => expect(201, await ada.post(path, body))
  for (const [person, name] of [
    [ada, 'open'],
    [ben, 'bens'],
  ] as const) {
    await person.owns(name, { auto_init: true })
    await expect(201, await person.post(`/repos/${person.login}/${name}/issues`, { title: 'Smoke', body: 'It smokes' }))
  }
  await ada.owns('secret', { private: true, auto_init: true, description: text('description of the repository') })
  await ada.owns(markers.make('name of a repository'), { private: true, auto_init: true })
  await make('/orgs/acme/repos', { name: 'hidden', private: true, description: text('description of a repository in acme') })
  const repo = '/repos/ada/secret'
  const hook = {
    config: { url: `https://${markers.make('host of a hook')}.example/`, secret: markers.make('secret of a hook') },
    events: ['*'],
  }
  await make(`${repo}/issues`, { title: text('title of an issue'), body: text('body of an issue') })
  await make(`${repo}/issues/1/comments`, { body: text('comment') })
  await make(`${repo}/labels`, { name: markers.make('label'), color: 'ff0000', description: text('description of a label') })
  await make(`${repo}/milestones`, { title: text('title of a milestone'), description: text('description of a milestone') })
  await make(`${repo}/releases`, {
    tag_name: markers.make('tag'),
    name: text('name of a release'),
    body: text('notes of a release'),
  })
  await make(`${repo}/hooks`, hook)
  const content = Buffer.from(text('contents of a file')).toString('base64')
  const file = { message: text('message of a commit'), content, branch: 'topic' }
  const { object } = await ada.read(`${repo}/git/ref/heads/main`)
  await make(`${repo}/git/refs`, { ref: 'refs/heads/topic', sha: object.sha })
  await expect(201, await ada.put(`${repo}/contents/notes.txt`, file))
  await make(`${repo}/pulls`, { title: text('title of a pull request'), head: 'topic', base: 'main', body: text('pull request') })
  await expect(200, await ada.post(`${repo}/pulls/2/reviews`, { body: text('body of a review'), event: 'COMMENT' }))
  await make(`${repo}/commits/${object.sha}/comments`, { body: text('comment on a commit') })
  await make(`${repo}/statuses/${object.sha}`, {
    state: 'success',
    description: text('status'),
    context: markers.make('context'),
  })
  await make('/orgs/acme/teams', {
    name: markers.make('name of a team'),
    privacy: 'secret',
    description: text('description of a team'),
  })
  await make('/orgs/acme/hooks', { ...hook, name: 'web' })
  markers.add('token of ada', ada.token)
  markers.add('e-mail address of ada', 'ada@example.com')
  const { _links: links }: { _links: Record<string, { href?: string }> } = await ada.read('/feeds')
  for (const [name, { href = '' }] of Object.entries(links)) {
    const token = new URL(href, forge.web).searchParams.get('token')
    if (token) markers.add(`token of the feed ${name}`, token)
  }
  return Object.assign(forge, { ada, ben, markers })
}
