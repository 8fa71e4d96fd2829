import { shortCount } from '#web/components/button.ts'
import { segments } from '#web/components/tabs.ts'
import { type Html, html } from '#web/html.ts'
import { type Sample, type Series, type Span, spans } from '../samples.ts'

/** Numbers of the whole server. */
export interface Totals {
  users: number
  suspended: number
  organizations: number
  repositories: number
  issues: number
  pulls: number
  hooks: number
  imports_running: number
  database_bytes: number
  storage_bytes: number
}

export function overview(totals: Totals, series: Series, span: Span): Html {
  const latest = series.steps.findLast((step) => step !== null)
  const figure = (name: string, value: string | number, href?: string) =>
    html`<div class="figure"><dt>${href ? html`<a href="${href}">${name}</a>` : name}</dt><dd>${value}</dd></div>`
  return html`<dl class="figures">${figure('People', shortCount(totals.users), '/site-admin/users')}${figure('Suspended', shortCount(totals.suspended), '/site-admin/users?filter=suspended')}
${figure('Organizations', shortCount(totals.organizations), '/site-admin/organizations')}${figure('Repositories', shortCount(totals.repositories), '/site-admin/repositories')}
${figure('Issues', shortCount(totals.issues))}${figure('Pull requests', shortCount(totals.pulls))}${figure('Webhooks', shortCount(totals.hooks))}
${figure('Imports running', totals.imports_running)}${figure('Database', sizeText(totals.database_bytes))}${figure('Git repositories', sizeText(totals.storage_bytes))}
${figure('Jobs waiting', latest ? shortCount(latest.jobs_waiting) : '–', '/site-admin/jobs')}${figure('Jobs failed', latest ? shortCount(latest.jobs_failed) : '–', '/site-admin/jobs')}
${figure('Deliveries waiting', latest ? shortCount(latest.deliveries_waiting) : '–')}</dl>
<div class="title-bar"><h2>Over time</h2>${segments('Time shown', spanLinks(span))}</div>
${latest ? plots(series) : html`<p class="muted">The server stores a measurement every minute. The first one is not there yet.</p>`}`
}

const spanLinks = (span: Span) =>
  Object.entries(spans).map(([name, { title }]) => ({
    text: title,
    href: name === 'hour' ? '/site-admin' : `/site-admin?span=${name}`,
    current: name === span,
  }))

const plots = (series: Series): Html => html`<div class="plots">
${plot('Requests a minute', series, (one) => (one.requests * 60) / series.seconds, shortCount)}
${plot(
  'Milliseconds for a request',
  series,
  (one) => (one.requests ? one.milliseconds / one.requests : 0),
  (value) => `${value.toFixed(1)} ms`,
)}
${plot('Failed requests', series, ({ failed }) => failed, shortCount, 'danger')}
${plot('Slow requests', series, ({ slow }) => slow, shortCount, 'attention')}
${plot('Jobs waiting', series, ({ jobs_waiting }) => jobs_waiting, shortCount)}
${plot('Deliveries waiting', series, ({ deliveries_waiting }) => deliveries_waiting, shortCount)}
${plot('Memory of a process', series, ({ memory }) => memory, sizeText)}
${plot('Database', series, ({ database_bytes }) => database_bytes, sizeText)}</div>`

const box = { width: 480, height: 96 }

/** Bars over time with the highest value; each bar says its time and value. */
function plot(
  title: string,
  { from, seconds, steps }: Series,
  valueIn: (sample: Sample) => number,
  write: (value: number) => string,
  tone = '',
): Html {
  const values = steps.map((one) => (one ? valueIn(one) : null))
  const highest = Math.max(...values.map((value) => value ?? 0), 0)
  const width = box.width / steps.length
  const bars = values.map((value, index) => {
    const tall = value && highest ? Math.max((value / highest) * box.height, 1) : 0
    const at = new Date(from.getTime() + index * seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')
    const hint = html`<title>${at} UTC: ${value === null ? 'not measured' : write(value)}</title>`
    return html`<g>${hint}<rect class="hit" x="${round(index * width)}" y="0" width="${round(width)}" height="${box.height}"/>${tall > 0 && html`<rect class="bar" x="${round(index * width)}" y="${round(box.height - tall)}" width="${round(Math.max(width - 1, 1))}" height="${round(tall)}"/>`}</g>`
  })
  const last = values.findLast((value) => value !== null)
  return html`<figure class="plot ${tone}"><figcaption><strong>${title}</strong> <span class="muted">now ${last === undefined || last === null ? '–' : write(last)}, at most ${write(highest)}</span></figcaption>
<svg viewBox="0 0 ${box.width} ${box.height}" preserveAspectRatio="none" role="img" aria-label="${title}: at most ${write(highest)}">${bars}</svg></figure>`
}

const round = (number: number) => Math.round(number * 10) / 10

export function sizeText(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  const value = bytes / 1000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}
