import type { Hook } from '#parts/webhooks/hooks.ts'
import type { PausedReason } from '#parts/webhooks/pauses.ts'
import type { Listed } from '#platform/listed.ts'
import { pager } from '#web/components/pager.ts'
import { type Html, html } from '#web/html.ts'
import { eventsInWords } from './events.ts'
import { shortUrl, type TargetVisit } from './hook-page.ts'
import { exactTime, lastMark, outcomeMark } from './outcome-marks.ts'

export const perPage = 30

export function hookList({ path, repo, name }: TargetVisit, { rows, total }: Listed<Hook>, page: number, now: Date): Html {
  const add = repo?.archived
    ? html`<span class="muted">This repository is archived, so you cannot add webhooks.</span>`
    : html`<a class="button primary" href="${path}/new">Add webhook</a>`
  if (!total) {
    return html`<h1>Webhooks</h1><section class="empty" aria-label="No webhooks yet">${bell}<h2 class="small">Connect your own programs</h2>
<p>A webhook sends a signed request to your address when an event happens in ${repo ? name : `any repository of ${name}`}: a push starts a build,
an issue notifies a chat, a release updates a site. You can view and resend each delivery for 30 days.</p><p>${add}</p></section>`
  }
  return html`<div class="heading"><h1>Webhooks</h1>${add}</div>
<p class="muted">Each webhook is sent the events of ${repo ? name : `every repository of ${name}`} as signed requests.</p>
<ul class="rows">${rows.map((hook) => row(path, hook, now))}</ul>${pager(path, {}, page, Math.ceil(total / perPage))}`
}

function row(path: string, hook: Hook, now: Date): Html {
  const { id, url, events, active, last_delivered_at, secret } = hook
  const throttled = throttledMark(hook, now)
  return html`<li class="${!active && 'off'}"><div class="row-head"><a class="title" href="${path}/${id}">${shortUrl(url)}</a>${stateMarks(hook)}</div>
<p class="muted">Events: ${eventsInWords(events)} · ${secret ? 'signed' : 'not signed'}</p>${throttled && html`<p>${throttled}</p>`}
<p class="row-end">${lastMark(hook)}${last_delivered_at && html` <span class="muted">${exactTime(last_delivered_at)}</span>`} <a href="${path}/${id}/edit" aria-label="Edit ${url}">Edit</a></p></li>`
}

export function stateMarks({ active, paused_reason, insecure_ssl }: Hook): Html {
  const off = paused_reason ? html` <span class="badge warn">paused</span>` : html` <span class="badge">inactive</span>`
  return html`${!active && off}${insecure_ssl && html` <span class="badge warn">certificates not checked</span>`}`
}

const pausedBecause: Record<Exclude<PausedReason, 'restored'>, string> = {
  maker_lost_access: 'no longer has admin access here',
  maker_suspended: 'is suspended',
  maker_deleted: 'has deleted their account',
}

/** `settings` is the address of the form that resumes the hook, unless it is on the same page. */
export function pausedNote({ paused_reason, paused_at, maker }: Hook, settings?: string): Html | undefined {
  if (!paused_reason) return undefined
  const responsible = maker ? `${maker}, who is responsible for it,` : 'the person responsible for it'
  const cause =
    paused_reason === 'restored'
      ? 'this server was restored from a backup, and the original may still run'
      : `${responsible} ${pausedBecause[paused_reason]}`
  const where = settings ? html`in its <a href="${settings}">settings</a>` : 'below'
  return html`<section class="card paused" aria-label="Paused"><p><strong>This webhook is paused</strong>, because ${cause}.${paused_at && html` <span class="muted">${exactTime(paused_at)}</span>`}</p>
<p>Nothing is sent until an administrator sets it to active ${where}. They become responsible for it, so check its address first.</p></section>`
}

export const throttledMark = ({ throttled_until }: Hook, now: Date) =>
  throttled_until && throttled_until > now && outcomeMark('wait', html`Postponed until ${exactTime(throttled_until)}`)

const bell = html`<svg class="picture" viewBox="0 0 48 48" width="64" height="64" aria-hidden="true"><path d="M24 6c-7 0-11 5-11 12v9l-4 6h30l-4-6v-9c0-7-4-12-11-12Z"/><path d="M20 38a4 4 0 0 0 8 0"/><path d="M38 8a16 16 0 0 1 5 10M10 8a16 16 0 0 0-5 10"/></svg>`
