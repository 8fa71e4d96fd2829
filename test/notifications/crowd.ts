import assert from 'node:assert/strict'
import { type Repo, World } from '#test/activity/model.ts'
import type { Forge, Person } from '#test/forge.ts'
import { Inboxes, type Topic } from './model.ts'

export const logins = ['ada', 'ben', 'cy', 'dee', 'eve', 'finn', 'gus', 'hal', 'ivy', 'jo']

/** What somebody wrote, and who is named in it. */
export interface Text {
  body: string
  users: string[]
  teams: ('crew' | 'night')[]
}

export interface Issue {
  topic: Topic
  author: string
  text: Text
  assignees: Set<string>
  /** What it is called while it is open; a pull request may be a draft then. */
  open_state?: string
}

export interface Comment {
  id: number
  topic: Topic
  author: string
  text: Text
}

/** Ten people who do things at random, each thing in Belfry and in the model. */
export class Crowd {
  readonly world = new World(logins)
  readonly inboxes = new Inboxes(this.world)
  readonly people = new Map<string, Person>()
  readonly issues: Issue[] = []
  readonly comments: Comment[] = []
  /** A team that gives no access, which only those know who are in it, and the organization's owners. */
  readonly night = new Set<string>()
  /** What was done, for whoever has to find out why. */
  readonly history: string[] = []
  readonly forge: Forge
  readonly #random: () => number
  #names = 0

  constructor(forge: Forge, random: () => number) {
    this.forge = forge
    this.#random = random
    this.inboxes.now = forge.clock.now().getTime()
  }

  /** A number from zero up to, and without, this. */
  below(end: number) {
    return Math.floor(this.#random() * end)
  }

  pick<T>(things: Iterable<T>): T {
    const all = [...things]
    const one = all[this.below(all.length)]
    assert.ok(one !== undefined)
    return one
  }

  chance(probability: number) {
    return this.#random() < probability
  }

  some(most: number, among: readonly string[] = logins): string[] {
    return [...new Set(Array.from({ length: this.below(most + 1) }, () => this.pick(among)))]
  }

  person(login: string): Person {
    return this.people.get(login) ?? assert.fail()
  }

  advance(milliseconds: number) {
    this.forge.clock.advance(milliseconds)
    this.inboxes.now += milliseconds
    this.inboxes.turn++
  }

  /** Sends what a person asks for; it must be done exactly when it may. */
  async ask(who: string, method: 'put' | 'post' | 'patch' | 'delete', path: string, body: object | undefined, may: boolean) {
    const at = new Date(this.inboxes.now).toISOString().slice(14, 23)
    this.history.push(`${at} ${who} ${method} ${path} ${JSON.stringify(body) ?? ''}${may ? '' : ' (in vain)'}`)
    const answer = await this.person(who)[method](path, body as Record<string, unknown>)
    const said = await answer.text()
    assert.equal(answer.ok, may, `${this.history.at(-1)} gave ${answer.status}: ${said}`)
    if (!may) assert.ok(answer.status >= 400 && answer.status < 500, said)
    return may ? { status: answer.status, body: said ? JSON.parse(said) : undefined } : undefined
  }

  access(who: string, repo: Repo) {
    return this.world.access(who, repo)
  }

  /** Somebody who mostly has this access to a repository. */
  someone(repo: Repo, level: number): string {
    const able = logins.filter((who) => this.access(who, repo) >= level)
    return able.length && this.chance(0.9) ? this.pick(able) : this.pick(logins)
  }

  repo(): Repo {
    return this.pick(this.world.repos.values())
  }

  name() {
    return `r${++this.#names}`
  }

  /** Something that names people and teams, and some whom it does not mean. */
  write(repo: Repo): Text {
    const users = this.chance(0.5) ? this.some(2) : []
    const teams = this.chance(this.world.orgs.has(repo.owner) ? 0.5 : 0.1) ? [this.pick(['crew', 'night'] as const)] : []
    const decoy = this.pick(logins)
    const decoys = [`\`@${decoy}\``, `post@${decoy}.example`, `\n\n> @${decoy}\n\n`, '@nobody', '@acme/nobody', '@ben/crew']
    const names = [...users.map((login) => `@${login}`), ...teams.map((slug) => `@acme/${slug}`)]
    const words = [this.name(), ...names, ...(this.chance(0.5) ? [this.pick(decoys)] : [])]
    return { body: words.join(' '), users, teams }
  }

  /** Whom a text names, that it did not before; a team may be named in its organization, by those who may know of it. */
  mentions(repo: Repo, writer: string, text: Text, before: Text = { body: '', users: [], teams: [] }) {
    const org = this.world.orgs.get(repo.owner)
    const role = org?.members.get(writer)
    const named = text.teams.filter((slug) => !before.teams.includes(slug))
    const teams = named.map((slug) => {
      if (!org || !role) return []
      if (slug === 'crew') return [...org.crew.members]
      return role === 'admin' || this.night.has(writer) ? [...this.night] : []
    })
    return { mentioned: text.users.filter((login) => !before.users.includes(login)), team_mentioned: teams.flat() }
  }
}

export const pathOf = ({ owner, name }: Repo) => `/repos/${owner}/${name}`
