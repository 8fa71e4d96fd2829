import { Crowd as Base } from '#test/activity/crowd.ts'
import type { Repo } from '#test/activity/model.ts'
import type { Forge } from '#test/forge.ts'
import { Inboxes, type Topic } from './model.ts'

export const logins = ['ada', 'ben', 'cy', 'dee', 'eve', 'finn', 'gus', 'hal', 'ivy', 'jo']

/** A text, and who is mentioned in it. */
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

interface Comment {
  id: number
  topic: Topic
  author: string
  text: Text
}

/** Ten users who act at random, each act in Belfry and in the model. */
export class Crowd extends Base {
  readonly inboxes = new Inboxes(this.world)
  readonly issues: Issue[] = []
  readonly comments: Comment[] = []
  /** A team that gives no access. Only its members and the organization's owners know it. */
  readonly night = new Set<string>()

  constructor(forge: Forge, random: () => number) {
    super(forge, random, logins)
    this.inboxes.now = forge.clock.now().getTime()
  }

  some(most: number, among: readonly string[] = logins): string[] {
    return [...new Set(Array.from({ length: this.below(most + 1) }, () => this.pick(among)))]
  }

  advance(milliseconds: number) {
    this.forge.clock.advance(milliseconds)
    this.inboxes.now += milliseconds
    this.inboxes.turn++
  }

  access(who: string, repo: Repo) {
    return this.world.access(who, repo)
  }

  /** A user who mostly has this access to a repository. */
  someone(repo: Repo, level: number): string {
    const able = logins.filter((who) => this.access(who, repo) >= level)
    return able.length && this.chance(0.9) ? this.pick(able) : this.pick(logins)
  }

  repo(): Repo {
    return this.pick(this.world.repos.values())
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
