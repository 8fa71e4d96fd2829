import assert from 'node:assert/strict'
import type { Forge, Person } from '#test/forge.ts'
import { type Repo, World } from './model.ts'

/** Numbers that follow from a seed, between 0 and 1. */
export function seeded(seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const logins = ['ada', 'ben', 'cy', 'dee', 'eve', 'finn']

/** Users who act at random, each act in Belfry and in the model. */
export class Crowd {
  readonly world: World
  readonly people = new Map<string, Person>()
  /** What was done, to find the cause of a failure. */
  readonly history: string[] = []
  readonly forge: Forge
  readonly #random: () => number
  #names = 0

  constructor(forge: Forge, random: () => number, everyone = logins) {
    this.world = new World(everyone)
    this.forge = forge
    this.#random = random
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

  person(login: string): Person {
    return this.people.get(login) ?? assert.fail()
  }

  /** Sends a request, which must succeed exactly when it may. */
  async ask(who: string, method: 'put' | 'post' | 'patch' | 'delete', path: string, body: object | undefined, may: boolean) {
    const allowed = may && !this.world.suspended.has(who)
    const at = this.forge.clock.now().toISOString().slice(14, 23)
    this.history.push(`${at} ${who} ${method} ${path} ${JSON.stringify(body) ?? ''}${allowed ? '' : ' (in vain)'}`)
    const answer = await this.person(who)[method](path, body as Record<string, unknown>)
    const said = await answer.text()
    assert.equal(answer.ok, allowed, `${this.history.at(-1)} gave ${answer.status}: ${said}`)
    if (!allowed) assert.ok(answer.status >= 400 && answer.status < 500, said)
    return allowed ? { status: answer.status, body: said ? JSON.parse(said) : undefined } : undefined
  }

  /** A repository and someone who mostly may do this to it. */
  scene(level: number, fits: (repo: Repo) => boolean = () => true) {
    const { world } = this
    const repos = [...world.repos.values()].filter(fits)
    if (!repos.length) return undefined
    const repo = this.pick(repos)
    const able = logins.filter((who) => world.access(who, repo) >= level && !world.suspended.has(who))
    const who = able.length && this.chance(0.85) ? this.pick(able) : this.pick(logins)
    return { repo, who, path: `/repos/${repo.owner}/${repo.name}`, may: world.access(who, repo) >= level }
  }

  name() {
    return `r${++this.#names}`
  }
}
