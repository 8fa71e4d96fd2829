import type { Document } from '#test/openapi.ts'
import { seeded } from '#test/openapi.ts'
import { learn, shuffled } from '../fuzzer.ts'
import { type Pick, Seen } from '../inputs.ts'
import { apiTargets } from './api-targets.ts'
import { fileTargets } from './file-targets.ts'
import { gitTargets } from './git-targets.ts'
import { addressTargets, headerTargets } from './header-targets.ts'
import { blockedBy, type Cost, growsTooFast, mostBlocked } from './judge.ts'
import { type Answered, MeasuredWorld, type Sent, Stuck } from './measured-world.ts'
import { pageTargets } from './page-targets.ts'
import type { Shape } from './shapes.ts'
import { inAddress, type Target } from './target.ts'

export interface CostRun {
  /** Inputs that cost too much, each with what was measured. */
  faults: string[]
  requests: number
  series: number
}

export interface CostOptions {
  seed: number
  /** The most series of requests, one for a target and a shape. */
  most: number
  isOver?: () => boolean
  /** The largest input, in characters. */
  largest: number
  /** The most pages that are searched for forms. */
  pages: number
  /** Targets by name. */
  only?: RegExp
  report?: (fault: string) => void
}

/** Written texts make pages longer, so a world serves so many series. */
const seriesPerWorld = 500

/** Sends series of growing inputs, each target with shapes that the seed says, and measures what each request costs the server. */
export async function measureCosts({
  seed,
  most,
  largest,
  pages,
  isOver = () => false,
  only = /^/,
  report = () => {},
}: CostOptions): Promise<CostRun> {
  const run: CostRun = { faults: [], requests: 0, series: 0 }
  const pick = seeded(seed)
  let world = await MeasuredWorld.open(seed)
  try {
    const plan = planOf(await targetsOf(world, pick, pages, only), pick)
    let page = await pageOfEvents(world)
    await calibrate(world, page)
    while (run.series < most && !isOver()) {
      const next = plan.next()
      if (next.done) break
      const { target, shape } = next.value
      run.series++
      const sizes = target.sizes.filter((size) => size <= largest)
      const probe = new Probe(world, page, { ...target, sizes }, shape)
      const fault = await probe.run()
      run.requests += probe.requests
      if (fault) {
        run.faults.push(fault)
        report(fault)
      }
      if (!probe.is_stuck && run.series % seriesPerWorld) continue
      await world[Symbol.asyncDispose]()
      world = await MeasuredWorld.open(seed)
      page = await pageOfEvents(world)
    }
    return run
  } finally {
    await world[Symbol.asyncDispose]()
  }
}

/** By kind, because there are thousands of fields of operations and ten git commands. */
async function targetsOf(world: MeasuredWorld, pick: Pick, pages: number, only: RegExp): Promise<Target[][]> {
  const seen = new Seen()
  await learn(world, seen)
  const document: Document = await world.ada.read('/openapi.json')
  const versioned: Document = await world.ada.versioned.read('/openapi.json')
  const kinds = [
    headerTargets(),
    addressTargets(),
    gitTargets(),
    fileTargets(),
    // Most operations of the versioned variant are those of the other, so they come last.
    [
      ...shuffled(apiTargets(document, 'api', pick, seen), pick),
      ...shuffled(apiTargets(versioned, 'versioned', pick, seen), pick),
    ],
    await pageTargets(world, pages),
  ]
  return kinds.map((targets) => targets.filter(({ name }) => only.test(name))).filter(({ length }) => length)
}

interface Step {
  target: Target
  shape: Shape
}

/** One target of each kind in turn, until all have had all shapes. */
function* planOf(kinds: Target[][], pick: Pick): Generator<Step> {
  const plans = new Set(kinds.map((targets) => roundsOf(targets, pick)))
  while (plans.size) {
    for (const plan of plans) {
      const next = plan.next()
      if (next.done) plans.delete(plan)
      else yield next.value
    }
  }
}

/** In each round, every target gets another shape. */
function* roundsOf(targets: Target[], pick: Pick): Generator<Step> {
  const orders = new Map(targets.map((target) => [target, shuffled(target.shapes, pick)]))
  for (let round = 0; round < Math.max(...targets.map(({ shapes }) => shapes.length)); round++) {
    for (const target of targets) {
      const shape = orders.get(target)?.[round]
      if (shape) yield { target, shape }
    }
  }
}

/** A measure that misses a known cost, or finds one where there is none, would prove nothing. */
async function calibrate(world: MeasuredWorld, page: number) {
  for (const [path, isFound] of [
    ['square', true],
    ['linear', false],
  ] as const) {
    const send = (text: string) => ({ method: 'GET', url: `${world.place.slow}/${path}/${text}`, headers: {} })
    const target = { ...inAddress, name: path, send }
    const fault = await new Probe(world, page, target, { name: 'a', text: (size) => 'a'.repeat(size) }).run()
    if (isFound !== (fault !== undefined)) throw new Error(`The known cost of ${path} was measured wrong: ${fault}`)
  }
}

/** The processor time of a page of events, in milliseconds. */
async function pageOfEvents(world: MeasuredWorld) {
  const sent = { method: 'GET', url: `${world.ada.base}/users/ada/events?per_page=100&after=0`, headers: world.ada.headers }
  await world.measure(sent)
  return (await world.measure(sent)).cpu
}

/** A series of growing requests to one target. */
class Probe {
  requests = 0
  is_stuck = false
  readonly #world: MeasuredWorld
  readonly #page: number
  readonly #target: Target
  readonly #shape: Shape
  /** The costs of the request before, by what was requested. */
  readonly #before = new Map<string, Cost>()

  constructor(world: MeasuredWorld, page: number, target: Target, shape: Shape) {
    this.#world = world
    this.#page = page
    this.#target = target
    this.#shape = shape
  }

  /** What is wrong, with the request that shows it. */
  async run(): Promise<string | undefined> {
    let shown = ''
    try {
      for (const size of this.#target.sizes) {
        const text = this.#shape.text(size)
        const sent = this.#target.send(text, this.#world)
        shown = `${size} characters`
        const { answered, fault } = await this.#measure('the request', sent, size)
        if (fault) return this.#describe(fault)
        const follow = this.#target.follow?.(this.#world, text) ?? leadingTo(this.#world, sent, answered)
        for (const [index, each] of follow.entries()) {
          const path = each.url.slice(this.#world.place.web.length, this.#world.place.web.length + 80)
          shown = `${size} characters, then ${path}`
          const { fault: late } = await this.#measure(`${index}`, each, size)
          if (late) return this.#describe(`${path}: ${late}`)
        }
      }
      return undefined
    } catch (error) {
      if (!(error instanceof Stuck)) throw error
      this.is_stuck = true
      return this.#describe(`${shown}: ${error.message}`)
    }
  }

  #describe = (fault: string) => `${this.#target.name}\n  ${this.#shape.name}\n  ${fault}`

  /** Measures again before it finds a fault, so that a busy machine does not decide. */
  async #measure(what: string, sent: Sent, size: number): Promise<{ answered: Answered; fault?: string }> {
    this.requests++
    const first = await this.#world.measure(sent)
    if (first.status === 500) return { answered: first, fault: `${size} characters gave 500: ${first.text.slice(0, 200)}` }
    const before = this.#before.get(what)
    const cost = { ...first, size }
    this.#before.set(what, cost)
    const limit = mostBlocked(this.#page, Buffer.byteLength(sent.body ?? sent.url) + first.text.length)
    if (first.cpu <= limit && !growsTooFast(cost, before)) return { answered: first }
    const again = { ...(await this.#world.measure(sent, true)), size }
    this.requests++
    const least = { ...cost, cpu: Math.min(cost.cpu, again.cpu) }
    const numbers = `${size} characters took ${Math.round(least.cpu)} ms of processor time`
    if (blockedBy(again) > limit && first.cpu > limit) {
      const blocked = Math.round(blockedBy(again))
      return { answered: first, fault: `${numbers} and blocked the loop for ${blocked} ms, more than ${Math.round(limit)} ms` }
    }
    if (before && growsTooFast(least, before)) {
      return { answered: first, fault: `${numbers}, ${before.size} characters took ${Math.round(before.cpu)} ms` }
    }
    return { answered: first }
  }
}

/** The page that shows what a request has written. */
function leadingTo({ place, cookie }: MeasuredWorld, { method }: Sent, { status, text, location }: Answered): Sent[] {
  if (method === 'GET' || status < 200 || status >= 400) return []
  const url = location?.startsWith('/') ? `${place.web}${location}` : `${jsonOf(text)?.html_url ?? ''}`
  return url.startsWith(place.web) ? [{ method: 'GET', url, headers: { cookie } }] : []
}

function jsonOf(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
