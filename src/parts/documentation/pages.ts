import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { basesOf, limitsOf } from '#http/call.ts'
import type { Group } from '#http/endpoint.ts'
import { requestAs } from '#http/visitor-request.ts'
import { ByteCache } from '#platform/byte-cache.ts'
import { codeOf } from '#platform/database.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { selfHosted, versioned } from '#variants.ts'
import { confirmed } from '#web/confirm-password.ts'
import { attempt } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { type Outcome, type PageRoute, type SignedIn, show, showOwn, submitOwn } from '#web/page.ts'
import { readConformance } from './conformance.ts'
import { addressOf, type Entry, Reference, type ReferenceGroup } from './reference.ts'
import { firstTrial, readTrial, urlOf, whyNot } from './trial.ts'
import { conformanceBody } from './views/conformance.ts'
import { referencePage } from './views/frame.ts'
import { groupBody } from './views/group.ts'
import type { Bases } from './views/operation.ts'
import { overview } from './views/overview.ts'
import { changes, type TrialState, trialBody } from './views/trial-page.ts'

export const assets = join(import.meta.dirname, 'assets')

/** What is read of a response that is tried, in bytes, and how long its visitor waits. */
const bounds = { most: 256 * 1024, milliseconds: 15_000 }

/** The listeners that serve the APIs. */
interface Listeners {
  web: FastifyInstance
  versioned: FastifyInstance
}

/** The API reference, made from the declarations of the endpoints. */
export function documentationPages(belfry: Belfry, groups: Group[], listeners: Listeners): PageRoute[] {
  const reference = new Reference(groups)
  /** Bodies of groups: a large one takes 20 ms. */
  const bodies = new ByteCache<Html>(2 << 20)

  const bases = (): Bases => ({ 'self-hosted': basesOf(belfry, selfHosted).api, versioned: basesOf(belfry, versioned).api })
  const limits = { 'self-hosted': limitsOf(belfry, selfHosted), versioned: limitsOf(belfry, versioned) }

  function bodyOf(group: ReferenceGroup): Html {
    const kept = bodies.get(group.slug)
    if (kept) return kept
    const body = groupBody(reference, group, bases())
    bodies.set(group.slug, body, 2 * body.text.length)
    return body
  }

  function entryOf({ params }: Pick<SignedIn, 'params'>): Entry {
    const entry = reference.entry(`${params.space}/${params.name}`)
    if (!entry) throw missing()
    return entry
  }

  function trialPage(visit: SignedIn, entry: Entry, state: TrialState): Outcome {
    const group = reference.group(entry.group)?.title ?? ''
    const refusal = whyNot(entry, visit.visitor)
    return {
      title: `Try ${entry.endpoint.operation} · API reference`,
      body: referencePage(reference, entry.group, trialBody(visit, entry, group, bases(), { ...state, refusal })),
      status: state.problem?.status ?? 200,
    }
  }

  /** Asks first if the request changes something, and for the password if it was not given within the last hour. */
  function tryOperation(visit: SignedIn): Outcome | Promise<Outcome> {
    const entry = entryOf(visit)
    const trial = readTrial(entry, visit.form)
    const refuse = (message: string, status = 422) => trialPage(visit, entry, { trial, problem: { message, status } })
    const refusal = whyNot(entry, visit.visitor)
    if (refusal) return refuse(refusal, 403)
    if (!changes(entry)) return send(visit)
    if (!visit.form.has('sure')) return refuse('This request changes data. Tick the box above the button, and send it again.')
    return confirmed(send)(visit)
  }

  function send(visit: SignedIn): Promise<Outcome> {
    const entry = entryOf(visit)
    const { endpoint, variant } = entry
    const trial = readTrial(entry, visit.form)
    return attempt(
      async () => {
        const url = urlOf(entry, trial)
        const started = performance.now()
        const listener = variant.name === 'versioned' ? listeners.versioned : listeners.web
        const request = { method: endpoint.method, url, body: trial.body, address: visit.request.ip }
        const response = await requestAs(listener, visit.visitor, request, bounds).catch((error: Error) => {
          if (!/abort|timeout/i.test(`${error.name} ${codeOf(error)}`)) throw error
          throw new Refusal('unavailable', 'There was no response within 15 seconds. The request may still be running.')
        })
        const milliseconds = Math.round(performance.now() - started)
        return trialPage(visit, entry, { trial, exchange: { response, milliseconds } })
      },
      (problem) => trialPage(visit, entry, { trial, problem }),
    )
  }

  return [
    showOwn('/docs/try/:space/:name', async (visit) => {
      const entry = entryOf(visit)
      return trialPage(visit, entry, { trial: await firstTrial(visit.db, visit.visitor, entry) })
    }),
    submitOwn('/docs/try/:space/:name', tryOperation),
    show('/docs', ({ query }) => {
      const words = query.get('q')?.slice(0, 200).trim() ?? ''
      if (words) return { title: `${words} · API reference`, body: referencePage(reference, '', html``, words) }
      return { title: 'API reference', body: referencePage(reference, '', overview(reference, { bases: bases(), limits })) }
    }),
    show('/docs/conformance', () => {
      const body = conformanceBody(readConformance(), bases()['self-hosted'])
      return { title: 'Conformance · API reference', body: referencePage(reference, 'conformance', body) }
    }),
    show('/docs/:group', ({ params }) => {
      const group = reference.group(params.group ?? '')
      if (!group) throw missing()
      return { title: `${group.title} · API reference`, body: referencePage(reference, group.slug, bodyOf(group)) }
    }),
    // Where links by the id of an operation lead.
    show('/docs/operations/:space/:name', (visit) => ({ to: addressOf(entryOf(visit)) })),
  ]
}
