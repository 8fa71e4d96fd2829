import type { FastifyInstance } from 'fastify'
import { fillIn } from '#activity/outbox/addresses.ts'
import { listening } from '#activity/outbox/outbox.ts'
import type { Belfry } from '#belfry.ts'
import { listRepositories } from '#hosting/repositories/repositories.ts'
import { viewerOf } from '#hosting/repositories/views/repository-page.ts'
import type { Account } from '#identity/accounts.ts'
import { markShown } from '#parts/notifications/views/thread-subscription.ts'
import { readChangeMarker, readHistory, readWaiting, type Span, spans } from '#parts/webhooks/history.ts'
import { headersOf } from '#parts/webhooks/signing.ts'
import { exchangePanes } from '#parts/webhooks/views/delivery.ts'
import {
  changeHook,
  type HookVisit,
  hookPage,
  hookPath,
  hookPaths,
  idIn,
  loadHookVisit,
} from '#parts/webhooks/views/hook-page.ts'
import { exactTime, formatDuration, outcomeMark, outcomeText, signOf } from '#parts/webhooks/views/outcome-marks.ts'
import { type Filter, filters, type OverviewQuery, overview } from '#parts/webhooks/views/overview.ts'
import { sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { quoteShell } from '#platform/quote-shell.ts'
import { buttonLink } from '#web/components/button.ts'
import { copyButton } from '#web/components/copy.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { betweenLooks, mountPageStream } from '#web/page-stream.ts'
import { note } from '#web/settings.ts'
import { readCursor } from './cursors.ts'
import { type Delivery, listDeliveries, loadDelivery, redeliver, resendLatestPush } from './deliveries.ts'

const sendAgain = changeHook('again', async (db, { hook }, { params }) =>
  redeliver(db, hook, await loadDelivery(db, hook, idIn(params.delivery_id))),
)

export const pages: PageRoute[] = hookPaths.flatMap((path) => [
  showOwn(`${path}/:hook_id`, overviewPage),
  submitOwn(`${path}/:hook_id/tests`, testPush),
  showOwn(`${path}/:hook_id/deliveries/:delivery_id`, deliveryPage),
  submitOwn(`${path}/:hook_id/deliveries/:delivery_id/attempts`, sendAgain),
])

const perPage = 30

const done = {
  created: 'The webhook is created. A ping is being sent.',
  inactive:
    'The webhook is created. It is inactive, so nothing is sent until you activate it or ask for a ping, a test or a redelivery.',
  pinged: 'A ping is being sent.',
  tested: 'The latest push is being sent again.',
  nothing: 'There was nothing to send: the webhook does not subscribe to pushes, or nothing was pushed yet.',
  again: 'The delivery is being sent again.',
  resumed: 'Postponed deliveries are being sent now.',
}

async function overviewPage(visit: SignedIn): Promise<Outcome> {
  const visited = await loadHookVisit(visit)
  const { db, query } = visit
  const { hook } = visited
  await markShown(visit, sql`s.hook_id = ${hook.id}`)
  const view = readQuery(query)
  const cursor = readCursor(query.get('cursor') ?? '')
  const status = view.status === 'all' ? null : view.status
  const [history, waiting, deliveries] = await Promise.all([
    readHistory(db, hook, view.span),
    readWaiting(db, hook),
    listDeliveries(db, hook, { status, cursor, limit: perPage }),
  ])
  const shown = {
    ...view,
    now: db.now,
    history,
    waiting,
    deliveries,
    names: await namesOf(visit, visited, deliveries.rows),
    newest: cursor === null,
    command: commandOf(visit, visited),
  }
  const controls = { buttons: buttons(visit, visited), resume: resumeForm(visit, visited) }
  const body = html`${note(noticeOf(query))}${overview(visited, shown, controls)}`
  return hookPage(visited, '', 'Deliveries', body)
}

function noticeOf(query: URLSearchParams): string | undefined {
  const name = query.get('done') ?? ''
  return Object.hasOwn(done, name) ? done[name as keyof typeof done] : undefined
}

/** Repository names for the deliveries of an organization's hook. A repository that moved away is named only if the visitor may see it. */
async function namesOf(visit: SignedIn, { repo }: HookVisit, rows: Delivery[]): Promise<Map<number, string>> {
  if (repo) return new Map()
  const ids = [...new Set(rows.flatMap(({ repo_id }) => repo_id ?? []))]
  const slice = { limit: perPage, offset: 0 }
  const { rows: repos } = await listRepositories(visit.db, viewerOf(visit), sql`r.id = any(${ids})`, sql`r.id`, slice)
  return new Map(repos.map(({ id, owner_login, name }) => [id, `${owner_login}/${name}`]))
}

function commandOf({ belfry }: SignedIn, { hook, target }: HookVisit): string | null {
  const address = `${belfry.addresses.web}/api/v3/${target.path}/hooks/${hook.id}`
  return hook.url === listening ? `BELFRY_TOKEN=… npx belfry listen --hook ${address} --forward http://localhost:4000/` : null
}

function readQuery(query: URLSearchParams): OverviewQuery {
  const [span, status] = [query.get('span') ?? '', query.get('status') ?? '']
  return {
    span: Object.hasOwn(spans, span) ? (span as Span) : 'day',
    status: Object.hasOwn(filters, status) ? (status as Filter) : 'all',
  }
}

function buttons(visit: SignedIn, visited: HookVisit): Html {
  const path = hookPath(visited)
  return html`<div class="buttons">${form(visit, `${path}/pings`, html`<button>Send a ping</button>`, { class: 'inline' })}
${visited.repo && form(visit, `${path}/tests`, html`<button>Send the latest push</button>`, { class: 'inline' })}</div>`
}

const resumeForm = (visit: SignedIn, visited: HookVisit): Html =>
  form(visit, `${hookPath(visited)}/resume`, html`<button>Resume now</button>`, { class: 'inline' })

async function testPush(visit: SignedIn): Promise<Outcome> {
  const visited = await loadHookVisit(visit)
  if (!visited.repo) throw missing()
  const before = await readChangeMarker(visit.db, visited.hook)
  await resendLatestPush(visit.db, visit.belfry.storage, visited.repo, visited.hook)
  const sent = before !== (await readChangeMarker(visit.db, visited.hook))
  return { to: `${hookPath(visited)}?done=${sent ? 'tested' : 'nothing'}` }
}

async function deliveryPage(visit: SignedIn): Promise<Outcome> {
  const visited = await loadHookVisit(visit)
  const { hook } = visited
  const delivery = await loadDelivery(visit.db, hook, idIn(visit.params.delivery_id))
  const { id, guid, event, action, body, redelivery, throttled_at, delivered_at, duration } = delivery
  const request_headers = headersOf(delivery, hook, delivery.request_headers)
  const payload = body === null ? null : fillIn(body, visit.belfry.addresses.web)
  const again = form(visit, `${hookPath(visited)}/deliveries/${id}/attempts`, html`<button class="primary">Redeliver</button>`, {
    class: 'inline',
  })
  const tools = html`${payload !== null && copyButton(curlOf(delivery.url, request_headers, payload), 'Copy as curl')}${buttonLink('Compare', `${hookPath(visited)}/deliveries/${id}/compare`, { icon: 'git-compare' })}${buttonLink('Edit and send', `${hookPath(visited)}/deliveries/${id}/edit`, { icon: 'pencil' })}${again}`
  const shown = html`<div class="heading"><h2>${event}${action && `.${action}`}</h2><div class="buttons">${tools}</div></div>
<dl class="figures facts-list"><div><dt>Outcome</dt><dd>${outcomeMark(signOf(delivery), outcomeText(delivery))}</dd></div><div><dt>Duration</dt><dd>${formatDuration(duration)}</dd></div>
<div><dt>Delivered</dt><dd>${exactTime(delivered_at)}${redelivery && html` <span class="badge">redelivery</span>`}</dd></div>
${throttled_at && html`<div><dt>Postponed since</dt><dd>${exactTime(throttled_at)}</dd></div>`}<div><dt>GUID</dt><dd><code>${guid}</code></dd></div></dl>
${exchangePanes({ ...delivery, request_headers, payload })}`
  return hookPage(visited, '', `Delivery ${guid}`, shown)
}

/** The request as a command of a POSIX shell. The signature stays valid, because the payload is the same to the byte. */
function curlOf(url: string, headers: Record<string, string | string[]>, payload: string): string {
  const as_form = headers['content-type'] !== 'application/json'
  const given = Object.entries(headers).map(([name, value]) => `-H ${quoteShell(`${name}: ${value}`)}`)
  const data = as_form ? `--data-urlencode ${quoteShell(`payload=${payload}`)}` : `--data-binary ${quoteShell(payload)}`
  return ['curl -X POST', quoteShell(url), ...given, data].join(' \\\n  ')
}

/** Notifies the page of changes; the page then reloads itself. */
export function mountDeliveryStream(listener: FastifyInstance, belfry: Belfry) {
  const { db } = belfry
  const read = async (visitor: Account, params: Record<string, string>, from: string | null) => {
    const { hook } = await loadHookVisit({ db, visitor, params })
    const bookmark = await readChangeMarker(db, hook)
    return { news: from === null || bookmark === from ? [] : [{ id: null, data: {} }], bookmark }
  }
  for (const path of hookPaths) mountPageStream(listener, belfry, `${path}/:hook_id/stream`, read, betweenLooks)
}
