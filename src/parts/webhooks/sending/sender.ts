import { channel } from 'node:diagnostics_channel'
import { knowAddress } from '#hosting/announcements/addresses.ts'
import { deliveriesTopic } from '#hosting/announcements/announcements.ts'
import { type Hand, type Handful, lendHand } from '#hosting/announcements/hands.ts'
import { failureThreshold, postponeDeliveries } from '#parts/webhooks/throttling.ts'
import type { Database } from '#platform/database.ts'
import type { Logger } from '#platform/log.ts'
import type { Policy } from '#platform/outbound/policy.ts'
import type { Vault } from '#platform/vault.ts'
import { SecretCache } from '../secrets.ts'
import { type ClaimedDelivery, claimDeliveries, releaseAll, releaseDeliveries } from './claim.ts'
import { ConcurrencyLimiter, perHook } from './concurrency.ts'
import { type DeliveryDeps, deliver } from './deliver.ts'
import type { Outcome, ThrottledHook } from './outcomes.ts'
import { Pace } from './pace.ts'
import { type Payload, PayloadCache } from './payload-cache.ts'
import { Recorder } from './recorder.ts'
import { SenderMembership } from './sender-membership.ts'
import { openTransport } from './transport.ts'

export interface SenderOptions {
  db: Database
  vault: Vault
  log: Logger
  policy: Policy
  certificates: string | null
  agent: string
  timeout: number
  retries: number
  /** Where this server can be reached; empty as long as that is not known. */
  web: () => string
}

/** How many deliveries one sender has in hand, including unrecorded ones; and how many of them for one hook. */
const mostOwned = 5000
const mostPerHook = 4 * perHook
/** How many go at a time to a receiver that failed last: one that hangs must not take the places of many. */
const widthAfterFailure = 2
/** Fewer are not worth a question, as long as others are in hand. */
const worthTaking = 50
/** With nothing told, we look all the same, for what time alone brings and for what dead senders left. In milliseconds. */
const pollInterval = 1000
/** When something of our own went wrong, in milliseconds. */
const pauseAfterFault = 10_000
/** How long exchanges in hand may still take once a stop is asked for. */
const stopPatience = 10_000

/** A named moment in the life of deliveries, for whoever wants to watch: a sender has them in hand. */
const claimedChannel = channel('belfry:deliveries:claimed')

/**
 * Sends what is stored in `pending_deliveries` until it is recorded. What is in hand is marked with the sender's number; it goes back to all when the
 * sender dies, so that everything is sent at least once.
 */
export class Sender {
  readonly #options: SenderOptions
  readonly #limiter = new ConcurrencyLimiter<ClaimedDelivery>((delivery) => this.#send(delivery))
  readonly #payloads: PayloadCache
  readonly #deps: DeliveryDeps
  readonly #stopping = new AbortController()
  readonly #recorder: Recorder
  readonly #pace = new Pace(5)
  /** By the ids of deliveries that show whether a receiver is well again: lets the next go. */
  readonly #trials = new Map<number, () => void>()
  readonly #membership: SenderMembership
  /** What is queued, being sent, or sent and not recorded, by the ids of deliveries. */
  readonly #owned = new Set<number>()
  #ticking: Promise<void> | undefined
  #taking: Promise<void> | undefined
  #askedAgain = false
  /** There may be more to take than there was room for. */
  #more = false
  /** The database went away in the middle of something: rows may be marked as ours that we know nothing of. */
  #inDoubt = false
  #stopped = false
  #idle: (() => void) | undefined
  readonly #timer: NodeJS.Timeout
  readonly #off: () => void

  constructor(options: SenderOptions) {
    const { db, vault, log, policy, certificates, agent, timeout, retries, web } = options
    this.#options = options
    this.#payloads = new PayloadCache(db, web)
    this.#membership = new SenderMembership(db, log, {
      inHand: () => [...this.#owned],
      keep: (ids) => this.#keep(new Set(ids)),
      lose: () => this.#lose(),
    })
    this.#recorder = new Recorder(db, log, (batch, throttled) => this.#recorded(batch, throttled))
    this.#deps = {
      secrets: new SecretCache(vault),
      transport: openTransport(policy, certificates),
      agent,
      timeout,
      retries,
      clock: db,
    }
    this.#timer = setInterval(() => this.#tick(), pollInterval).unref()
    lendHand(db, () => this.#hand())
    knowAddress(db, web)
    this.#off = db.onTransactionEnd((ending, topics) => {
      const handed = topics.get(deliveriesTopic) as Handful[] | undefined
      if (ending === 'committed here') for (const handful of handed ?? []) this.#take(handful)
      // Whether it was committed we do not know: what we were to be handed may be ours, or not be there at all.
      else if (handed) this.#inDoubt = true
      if (ending === 'committed elsewhere' && this.#membership.number === undefined) this.#tick()
      // Where all went into our hands there is nothing to look for.
      if (ending === 'committed elsewhere' || (handed && (handed.length === 0 || handed.some(({ rest }) => rest)))) this.wake()
    })
    this.#tick()
  }

  #hand(): Hand | undefined {
    const { number } = this.#membership
    if (number === undefined || this.#stopped || this.#count >= mostOwned || !this.#options.web()) return undefined
    return { number, takes: (hook_id) => this.#limiter.count(hook_id) < mostPerHook }
  }

  /** What was stored for us, and is committed. What a number had that we have no more is given back with all else it had. */
  #take({ sender, payload_id, event, body, deliveries }: Handful) {
    if (sender !== this.#membership.number) return
    this.#payloads.keep(payload_id, body)
    const taken = deliveries.map(
      ({ id, guid, hook }): ClaimedDelivery => ({ ...hook, id, guid, event, payload_id, hook_id: hook.id, attempts: 0 }),
    )
    claimedChannel.publish(taken)
    this.#queue(taken)
  }

  /** Looks for something to send, now. */
  wake() {
    if (this.#taking) this.#askedAgain = true
    else
      this.#taking = this.#takeAll()
        .catch((error) => this.#away(error))
        .finally(() => {
          this.#taking = undefined
        })
  }

  #tick() {
    this.#ticking ??= this.#look().finally(() => {
      this.#ticking = undefined
    })
  }

  async #look() {
    try {
      await this.#membership.look()
      this.wake()
    } catch (error) {
      this.#away(error)
    }
  }

  /** Any sender may take the deliveries that wait here, so we drop them. Deliveries that are being sent are ours again once we have a new number. */
  #lose() {
    this.#unqueue()
    this.#tick()
  }

  #keep(ids: ReadonlySet<number>) {
    for (const id of this.#owned) if (!ids.has(id)) this.#owned.delete(id)
  }

  #unqueue(hook_id?: number): ClaimedDelivery[] {
    const waiting = this.#limiter.empty(hook_id)
    for (const { id } of waiting) this.#owned.delete(id)
    return waiting
  }

  get #count() {
    return this.#limiter.active + this.#limiter.waiting + this.#recorder.size
  }

  async #takeAll() {
    let taken: ClaimedDelivery[] = []
    do {
      await this.#pace.wait()
      this.#askedAgain = false
      const room = mostOwned - this.#count
      const { number } = this.#membership
      if (this.#stopped || number === undefined || !this.#options.web()) return
      this.#more = true
      if (room < worthTaking && this.#count > 0) return
      if (this.#inDoubt && this.#count === 0) {
        await releaseAll(this.#options.db, number)
        this.#inDoubt = false
      }
      const fullHooks = this.#limiter.fullHooks(mostPerHook)
      taken = await claimDeliveries(this.#options.db, number, { most: room, per_hook: mostPerHook, fullHooks })
      claimedChannel.publish(taken)
      await this.#begin(taken, number)
      this.#more = fullHooks.length > 0 || taken.length >= mostPerHook
    } while (this.#askedAgain || taken.length >= mostPerHook)
  }

  async #begin(taken: ClaimedDelivery[], number: number) {
    const { db } = this.#options
    const now = db.now
    const [held = [], free = []] = [true, false].map((wanted) => taken.filter((one) => isThrottled(one, now) === wanted))
    const pauses = [...Map.groupBy(held, ({ hook_id }) => hook_id).values()]
    await Promise.all(pauses.map((ofOne) => this.#hold(ofOne, ofOne[0]?.throttled_until)))
    await this.#payloads.fetch(free.map(({ payload_id }) => payload_id)).catch((error) => this.#away(error))
    // If we lost the number, another sender may have them by now.
    if (this.#membership.number === number) this.#queue(free)
  }

  #queue(taken: ClaimedDelivery[]) {
    for (const delivery of taken) {
      const { id, hook_id, url, failures } = delivery
      this.#owned.add(id)
      this.#limiter.add(
        hook_id,
        hostOf(url),
        failures === 0 ? perHook : failures < failureThreshold ? widthAfterFailure : 1,
        delivery,
      )
    }
  }

  async #hold(deliveries: ClaimedDelivery[], until: Date | null | undefined) {
    const ids = deliveries.map(({ id }) => id)
    if (ids.length && until) await postponeDeliveries(this.#options.db, ids, until).catch((error) => this.#away(error))
  }

  async #send(delivery: ClaimedDelivery) {
    const { db, log } = this.#options
    try {
      const stays = () => !this.#stopped && this.#owned.has(delivery.id)
      const send = (letter: Payload | undefined) => deliver(this.#deps, delivery, letter, this.#stopping.signal)
      const outcome = await this.#payloads.use(delivery.payload_id, stays, send)
      this.#recorder.add(outcome, delivery.failures > 0)
      if (delivery.failures >= failureThreshold) {
        await new Promise<void>((resolve) => this.#trials.set(delivery.id, resolve))
        setImmediate(() => this.#settle())
      }
    } catch (error) {
      // Nothing was sent: the hook's secret does not open, or the database is away and we stop. The sender that holds it then sends it later.
      log.error({ err: error, delivery: delivery.id, hook: delivery.hook_id }, 'a webhook could not be sent')
      const later = new Date(db.now.getTime() + pauseAfterFault)
      if (this.#owned.delete(delivery.id)) await releaseDeliveries(db, [delivery.id], later).catch((fault) => this.#away(fault))
      setImmediate(() => this.#settle())
    }
  }

  async #recorded(batch: Outcome[], throttled: ThrottledHook[] | false) {
    for (const { id } of batch) this.#owned.delete(id)
    if (!throttled) this.#inDoubt = true
    const pauses = throttled || []
    await Promise.all(pauses.map(({ hook_id, until }) => this.#hold(this.#unqueue(hook_id), until)))
    this.#endTrials(batch, pauses)
    if (this.#more) this.wake()
    this.#settle()
  }

  #endTrials(batch: Outcome[], throttled: ThrottledHook[]) {
    for (const { id, hook_id } of batch) {
      const end = this.#trials.get(id)
      if (!end) continue
      this.#trials.delete(id)
      if (throttled.every((one) => one.hook_id !== hook_id)) this.#limiter.setWidth(hook_id, perHook)
      end()
    }
  }

  #settle() {
    if (this.#count === 0) this.#idle?.()
  }

  #away(error: unknown) {
    this.#inDoubt = true
    this.#options.log.debug({ err: error }, 'webhooks wait for the database')
  }

  /** Begins nothing any more, waits for what was begun, and gives the rest to others. */
  async stop() {
    const { db } = this.#options
    this.#stopped = true
    this.#recorder.hurry()
    clearInterval(this.#timer)
    this.#off()
    await Promise.all([this.#ticking, this.#taking])
    const waiting = this.#unqueue().map(({ id }) => id)
    await releaseDeliveries(db, waiting, db.now).catch((error) => this.#away(error))
    const deadline = setTimeout(() => this.#stopping.abort(), stopPatience)
    if (this.#count > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
    clearTimeout(deadline)
    await this.#membership.leave()
    await this.#deps.transport.close()
  }
}

function isThrottled({ throttled_until }: ClaimedDelivery, now: Date) {
  return throttled_until !== null && throttled_until > now
}

/** Two hooks of one host share its connections. */
function hostOf(url: string) {
  return URL.parse(url)?.host ?? ''
}
