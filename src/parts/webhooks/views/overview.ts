import type { Delivery } from '#parts/webhooks/deliveries/deliveries.ts'
import { type History, mostWaiting, type Span, type Waiting } from '#parts/webhooks/history.ts'
import { segments } from '#web/components/tabs.ts'
import { type Html, html } from '#web/html.ts'
import { deliveryRow } from './delivery.ts'
import { eventsInWords } from './events.ts'
import { type HookVisit, hookPath } from './hook-page.ts'
import { pausedNote, stateMarks, throttledMark } from './list.ts'
import { amount, lastMark } from './outcome-marks.ts'
import { figures, plot } from './plot.ts'

export const filters = { all: 'All', success: 'Succeeded', failure: 'Failed' } as const
export type Filter = keyof typeof filters

/** The query parameters of the page. */
export interface OverviewQuery {
  span: Span
  status: Filter
}

interface Overview extends OverviewQuery {
  now: Date
  history: History
  waiting: Waiting
  deliveries: { rows: Delivery[]; prev: string | undefined; next: string | undefined }
  /** Repository names by id, for an organization's hook. */
  names: Map<number, string>
  /** The page shows the newest deliveries. */
  newest: boolean
  /** The `belfry listen` command for a hook to belfry:listen. */
  command: string | null
}

/** The script replaces the elements with ids when they change. Without scripts, reload the page. */
export function overview(visited: HookVisit, shown: Overview, { buttons, resume }: Record<'buttons' | 'resume', Html>): Html {
  const { history, waiting, command } = shown
  return html`<div class="heading first"><div id="state">${stateOf(visited, shown, resume)}</div>${buttons}</div>${command && listenBox(command)}
<section aria-labelledby="lately"><div class="heading"><h2 id="lately">Statistics</h2>${switchLinks(visited, shown, 'span', spanNames)}</div>
<div id="history">${figures(history, countOf(waiting))}${plot(history)}</div></section>
<section aria-labelledby="recent"><div class="heading"><h2 id="recent">Recent deliveries</h2>${shown.newest && html`<span id="live" class="live" role="status" hidden></span>`}${switchLinks(visited, shown, 'status', filters)}</div>
<div id="deliveries">${list(visited, shown)}</div></section>`
}

const listenBox = (command: string) =>
  html`<section aria-label="How to listen"><p>To receive deliveries on your machine, run:</p><pre tabindex="0">${command}</pre></section>`

const upTo = (count: number) => (count > mostWaiting ? `${amount(mostWaiting)}+` : amount(count))

const countOf = ({ waiting, throttled }: Waiting) =>
  html`${upTo(waiting)}${throttled > 0 && html` <span class="part">${upTo(throttled)} postponed</span>`}`

function stateOf(visited: HookVisit, { now }: Overview, resume: Html): Html {
  const { hook } = visited
  const { events, content_type, secret, failures } = hook
  const throttled = throttledMark(hook, now)
  return html`<p class="facts">${lastMark(hook)}${stateMarks(hook)} <span class="muted">Events: ${eventsInWords(events)} · ${content_type === 'json' ? 'JSON' : 'form'} · ${secret ? 'signed' : 'not signed'}</span></p>
${pausedNote(hook, `${hookPath(visited)}/edit`)}${throttled && html`<p class="held">${throttled} The receiver failed ${amount(failures)} times in a row. Pending deliveries are sent then, or when you resume.</p>${resume}`}`
}

function addressOf(visited: HookVisit, { span, status }: OverviewQuery, cursor?: string): string {
  const query = { ...(span !== 'day' && { span }), ...(status !== 'all' && { status }), ...(cursor && { cursor }) }
  const text = new URLSearchParams(query).toString()
  return text ? `${hookPath(visited)}?${text}` : hookPath(visited)
}

const spanNames: Record<Span, string> = { day: '24 hours', month: '30 days' }

function switchLinks(visited: HookVisit, look: OverviewQuery, key: keyof OverviewQuery, names: Record<string, string>): Html {
  const links = Object.entries(names).map(([value, text]) => ({
    text,
    href: addressOf(visited, { ...look, [key]: value }),
    current: value === look[key],
  }))
  return segments(`${key === 'span' ? 'Time' : 'Deliveries'} shown`, links)
}

function list(visited: HookVisit, look: Overview): Html {
  const { rows, prev, next } = look.deliveries
  const path = hookPath(visited)
  if (!rows.length) return html`<p class="empty muted">${emptyText(look)}</p>`
  return html`<ol class="rows deliveries">${rows.map((delivery) => deliveryRow(delivery, path, look.names.get(delivery.repo_id ?? 0)))}</ol>
${(prev || next) && html`<nav class="pager" aria-label="Pages">${prev && html`<a href="${addressOf(visited, look, prev)}" rel="prev">Newer</a>`} ${next && html`<a href="${addressOf(visited, look, next)}" rel="next">Older</a>`}</nav>`}`
}

function emptyText({ status, newest }: Overview): string {
  if (!newest) return 'There are no more deliveries.'
  if (status === 'failure') return 'No delivery failed.'
  return status === 'success' ? 'No delivery succeeded yet.' : 'No deliveries yet. Send a ping to test the receiver.'
}
