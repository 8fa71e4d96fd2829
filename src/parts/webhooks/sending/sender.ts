import { channel } from 'node:diagnostics_channel'
import { knowAddress } from '#activity/outbox/addresses.ts'
import { type Batch, type LocalSender, setLocalSender } from '#activity/outbox/local-dispatch.ts'
import { deliveriesTopic } from '#activity/outbox/outbox.ts'
import type { Belfry } from '#belfry.ts'
import { failureThreshold, postponeDeliveries } from '#parts/webhooks/throttling.ts'
import type { Database } from '#platform/database.ts'
import { type Logger, logFailure } from '#platform/log.ts'
import type { Policy } from '#platform/outbound/policy.ts'
import type { Vault } from '#platform/vault.ts'
import { openSecretCache } from '../secrets.ts'
import { type ClaimedDelivery, claimDeliveries, claimedIn, releaseDeliveries } from './claim.ts'
import { ConcurrencyLimiter } from './concurrency.ts'
import { type DeliveryDeps, deliver } from './deliver.ts'
import { Doubt } from './doubt.ts'
import * as limits from './limits.ts'
import { kindOf, type Outcome, type ThrottledHook } from './outcomes.ts'
import { openPace } from './pace.ts'
import { type Payload, PayloadCache } from './payload-cache.ts'
import { Recorder } from './recorder.ts'
import { SendCheck } from './send-check.ts'
import { SenderMembership } from './sender-membership.ts'
import { openTransport } from './transport.ts'

interface SenderOptions {
  db: Database
  vault: Vault
  log: Logger
  policy: Policy
  certificates: string | null
  agent: string
  timeout: number
  retries: number
  send_traceparent: boolean
  sent_deliveries: Belfry['sent_deliveries']
  /** The public address of this server; empty until it is known. */
  web: () => string
}

/** Lets tests stop a sender at the point where it has claimed deliveries. */
const claimedChannel = channel('belfry:deliveries:claimed')

/**
 * Sends the rows of `pending_deliveries` until their outcomes are recorded. Claimed rows carry the sender's number and are released when
 * the sender dies, so that every delivery is sent at least once.
 */
export class Sender {
  readonly #options: SenderOptions
  readonly #limiter = new ConcurrencyLimiter<ClaimedDelivery>((delivery) => this.#send(delivery))
  readonly #payloads: PayloadCache
  readonly #check: SendCheck
  readonly #deps: DeliveryDeps
  readonly #stopping = new AbortController()
  readonly #recorder: Recorder
  readonly #pace = openPace(5)
  /** Trial deliveries to throttled receivers, by id. Calling the function lets the limiter start the next one. */
  readonly #trials = new Map<number, () => void>()
  readonly #membership: SenderMembership
  /** The ids of deliveries that are queued, in flight, or sent and not recorded. */
  readonly #owned = new Set<number>()
  #ticking: Promise<void> | undefined
  #claiming: Promise<void> | undefined
  #claimAgain = false
  /** More deliveries may be due than there was room for. */
  #more = false
  readonly #doubt = new Doubt()
  #stopped = false
  #idle: (() => void) | undefined
  readonly #timer: NodeJS.Timeout
  readonly #off: () => void

  constructor(options: SenderOptions) {
    const { db, vault, log, policy, certificates, agent, timeout, retries, send_traceparent, web } = options
    this.#options = options
    this.#payloads = new PayloadCache(db, web)
    this.#check = new SendCheck(db)
    this.#membership = new SenderMembership(db, log, {
      ids: () => [...this.#owned],
      keep: (ids) => this.#keep(new Set(ids)),
      lose: () => this.#lose(),
    })
    this.#recorder = new Recorder(db, log, (batch, throttled) => this.#recorded(batch, throttled))
    const transport = openTransport(policy, certificates)
    this.#deps = { secretsOf: openSecretCache(vault), transport, agent, timeout, retries, send_traceparent, db }
    this.#timer = setInterval(() => this.#tick(), limits.pollInterval).unref()
    setLocalSender(db, () => this.#localSender())
    knowAddress(db, web)
    this.#off = db.onTransactionEnd((ending, topics) => {
      const batches = topics.get(deliveriesTopic) as Batch[] | undefined
      if (ending === 'committed here') for (const batch of batches ?? []) this.#accept(batch)
      // The transaction may have been committed or not, so rows that were stored for us may exist or not.
      else if (batches) this.#doubt.raise()
      if (ending === 'committed elsewhere' && this.#membership.number === undefined) this.#tick()
      // When all new deliveries were stored for us, there is nothing to claim.
      if (ending === 'committed elsewhere' || (batches && (batches.length === 0 || batches.some(({ rest }) => rest)))) this.wake()
    })
    this.#tick()
  }

  #localSender(): LocalSender | undefined {
    const { number } = this.#membership
    if (number === undefined || this.#stopped || this.#count >= limits.mostOwned || !this.#options.web()) return undefined
    return { number, takes: (hook_id) => this.#limiter.count(hook_id) < limits.mostOwnedPerHook }
  }

  /** Queues committed deliveries that were stored for this sender. Those of a lost number were released with that number. */
  #accept(batch: Batch) {
    if (batch.sender !== this.#membership.number) return
    this.#payloads.add(batch.payload_id, batch.body)
    const claimed = claimedIn(batch)
    claimedChannel.publish(claimed)
    this.#queue(claimed)
  }

  /** Claims due deliveries now. */
  wake() {
    if (this.#claiming) this.#claimAgain = true
    else
      this.#claiming = this.#claimAll()
        .catch((error) => this.#failed(error, 'webhook deliveries could not be claimed'))
        .finally(() => {
          this.#claiming = undefined
        })
  }

  #tick() {
    this.#ticking ??= this.#renew().finally(() => {
      this.#ticking = undefined
    })
  }

  async #renew() {
    try {
      await this.#membership.check()
      this.wake()
    } catch (error) {
      this.#failed(error, 'the sender of webhooks could not check its registration')
    }
  }

  /** Drops queued deliveries, because any sender may claim them. Those in flight are ours again once we have a new number. */
  #lose() {
    this.#unqueue()
    this.#tick()
  }

  #keep(ids: ReadonlySet<number>) {
    for (const id of this.#owned) if (!ids.has(id)) this.#owned.delete(id)
  }

  #unqueue(hook_id?: number): ClaimedDelivery[] {
    const waiting = this.#limiter.removeWaiting(hook_id)
    for (const { id } of waiting) this.#owned.delete(id)
    return waiting
  }

  get #count() {
    return this.#limiter.active + this.#limiter.waiting + this.#recorder.size
  }

  async #claimAll() {
    let claimed: ClaimedDelivery[] = []
    do {
      await this.#pace()
      this.#claimAgain = false
      const { number } = this.#membership
      if (this.#stopped || number === undefined || !this.#options.web()) return
      await this.#doubt.settle(this.#options.db, number, this.#owned)
      const room = limits.mostOwned - this.#count
      this.#more = true
      if (room < limits.leastRoom && this.#count > 0) return
      const per_hook = limits.mostOwnedPerHook
      const full_hooks = this.#limiter.fullHooks(per_hook)
      claimed = await claimDeliveries(this.#options.db, number, { most: room, per_hook, full_hooks })
      claimedChannel.publish(claimed)
      await this.#begin(claimed, number)
      this.#more = full_hooks.length > 0 || claimed.length >= per_hook
    } while (this.#claimAgain || claimed.length >= limits.mostOwnedPerHook)
  }

  async #begin(claimed: ClaimedDelivery[], number: number) {
    const { now } = this.#options.db
    const { throttled = [], free = [] } = Object.groupBy(claimed, (one) => (isThrottled(one, now) ? 'throttled' : 'free'))
    const byHook = [...Map.groupBy(throttled, ({ hook_id }) => hook_id).values()]
    await Promise.all(byHook.map((ofOne) => this.#postpone(ofOne, ofOne[0]?.throttled_until)))
    await this.#payloads
      .load(free.map(({ payload_id }) => payload_id))
      .catch((error) => this.#failed(error, 'payloads of webhooks could not be read'))
    // If we lost the number, another sender may have claimed them by now.
    if (this.#membership.number === number) this.#queue(free)
  }

  #queue(claimed: ClaimedDelivery[]) {
    for (const delivery of claimed) {
      const { id, hook_id, url, failures } = delivery
      this.#owned.add(id)
      this.#limiter.add(hook_id, hostOf(url), limits.widthAfter(failures), delivery)
    }
  }

  async #postpone(deliveries: ClaimedDelivery[], until: Date | null | undefined) {
    const ids = deliveries.map(({ id }) => id)
    if (!ids.length || !until) return
    await postponeDeliveries(this.#options.db, ids, until).catch((error) =>
      this.#failed(error, 'webhooks could not be postponed'),
    )
  }

  async #send(delivery: ClaimedDelivery) {
    try {
      const stillOwned = () => !this.#stopped && this.#owned.has(delivery.id)
      const send = async (payload: Payload | undefined) => {
        const checked = await this.#check.check(delivery, stillOwned)
        return checked === 'send' ? deliver(this.#deps, delivery, payload, this.#stopping.signal) : checked
      }
      const outcome = await this.#payloads.use(delivery.payload_id, stillOwned, send)
      if (!outcome) return this.#forget(delivery.id)
      this.#recorder.add(outcome, delivery.failures > 0)
      if (delivery.failures >= failureThreshold) {
        await new Promise<void>((resolve) => this.#trials.set(delivery.id, resolve))
        setImmediate(() => this.#settle())
      }
    } catch (error) {
      // Nothing was sent, for example because the hook's secret cannot be decrypted, or because we stop during an outage.
      const { db, log } = this.#options
      logFailure(log, error, 'a webhook could not be sent', { delivery: delivery.id, hook: delivery.hook_id })
      const later = new Date(db.now.getTime() + limits.pauseAfterBug)
      if (this.#owned.delete(delivery.id)) await this.#release([delivery.id], later)
      setImmediate(() => this.#settle())
    }
  }

  #forget(id: number) {
    this.#owned.delete(id)
    setImmediate(() => this.#settle())
  }

  async #release(ids: number[], ready_at: Date) {
    const { db } = this.#options
    await releaseDeliveries(db, ids, ready_at).catch((error) => this.#failed(error, 'webhooks could not be released'))
  }

  async #recorded(batch: Outcome[], throttled: ThrottledHook[] | false) {
    for (const { id } of batch) this.#owned.delete(id)
    if (!throttled) this.#doubt.raise()
    if (throttled) this.#report(batch, throttled)
    const hooks = throttled || []
    await Promise.all(hooks.map(({ hook_id, until }) => this.#postpone(this.#unqueue(hook_id), until)))
    this.#endTrials(batch, hooks)
    if (this.#more) this.wake()
    this.#settle()
  }

  /** Counts outcomes for metrics, and logs a receiver when it begins to fail for good. */
  #report(batch: Outcome[], throttled: ThrottledHook[]) {
    const { sent_deliveries, log } = this.#options
    for (const outcome of batch) sent_deliveries.counts[kindOf(outcome)]++
    for (const { hook_id, failures } of throttled.filter(({ begins }) => begins)) {
      const { url, status } = batch.findLast((outcome) => outcome.hook_id === hook_id) ?? {}
      log.warn(
        { hook_id, host: url && URL.parse(url)?.host, failures, status },
        'a webhook keeps failing: its deliveries are postponed',
      )
    }
  }

  #endTrials(batch: Outcome[], throttled: ThrottledHook[]) {
    for (const { id, hook_id } of batch) {
      const end = this.#trials.get(id)
      if (!end) continue
      this.#trials.delete(id)
      if (throttled.every((one) => one.hook_id !== hook_id)) this.#limiter.setWidth(hook_id, limits.perHook)
      end()
    }
  }

  #settle() {
    if (this.#count === 0) this.#idle?.()
  }

  #failed(error: unknown, message: string) {
    this.#doubt.raise()
    logFailure(this.#options.log, error, message)
  }

  /** Starts nothing new, waits for exchanges in flight, and releases the rest. */
  async stop(patience = limits.stopTimeout) {
    this.#stopped = true
    this.#recorder.hurry()
    clearInterval(this.#timer)
    this.#off()
    await Promise.all([this.#ticking, this.#claiming])
    const waiting = this.#unqueue().map(({ id }) => id)
    await this.#release(waiting, this.#options.db.now)
    const deadline = setTimeout(() => this.#stopping.abort(), patience)
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

/** Hooks with the same host share its connections. */
function hostOf(url: string) {
  return URL.parse(url)?.host ?? ''
}
