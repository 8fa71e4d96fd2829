import type { ContributionDay } from '#parts/profiles/contributions.ts'
import { dayText } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'

/** A cell and the gap after it. */
const step = 13
const left = 30
const top = 18

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const weekdays = ['', 'Mon', '', 'Wed', '', 'Fri', '']

/** A year of days as squares, a column for each week. The colour says how much was done, compared with the user's other days. */
export function contributionCalendar(days: ContributionDay[]): Html {
  const total = days.reduce((sum, { count }) => sum + count, 0)
  const level = levelsOf(days)
  const weeks = Array.from({ length: Math.ceil(days.length / 7) }, (_, index) => days.slice(index * 7, index * 7 + 7))
  const columns = weeks.map(
    (week, index) =>
      html`<g transform="translate(${left + index * step} ${top})">${week.map((one, row) => html`<rect y="${row * step}" class="level-${level(one.count)}"><title>${titleOf(one)}</title></rect>`)}</g>`,
  )
  const said = `${total.toLocaleString('en')} ${total === 1 ? 'contribution' : 'contributions'} in the last year`
  const busiest = days.reduce((most, one) => (one.count > most.count ? one : most), { at: new Date(0), count: 0 })
  const label = busiest.count > 0 ? `${said}. The busiest day was ${dayText(busiest.at)} with ${busiest.count}.` : `${said}.`
  const width = left + weeks.length * step
  return html`<section class="contributions"><h2>${said}</h2><div class="card"><div class="calendar" tabindex="0" role="region" aria-label="Contributions by day">
<svg width="${width}" height="${top + 7 * step}" viewBox="0 0 ${width} ${top + 7 * step}" role="img" aria-label="${label}">${monthNames(weeks)}${weekdays.map((name, row) => name && html`<text x="0" y="${top + row * step + 9}">${name}</text>`)}${columns}</svg></div>
<p class="legend"><span>Pushes, opened issues and pull requests, reviews and new repositories, by day in UTC</span> <span class="space"></span> <span>Less</span> <svg width="${5 * step}" height="10" aria-hidden="true">${[0, 1, 2, 3, 4].map((one) => html`<rect x="${one * step}" class="level-${one}"/>`)}</svg> <span>More</span></p></div></section>`
}

const titleOf = ({ at, count }: ContributionDay) =>
  `${count === 0 ? 'No contributions' : count === 1 ? '1 contribution' : `${count} contributions`} on ${dayText(at)}`

/** Four levels up to a busy day of this user: the busiest twentieth of the days does not make all others pale. */
function levelsOf(days: ContributionDay[]) {
  const busy = days.flatMap(({ count }) => (count > 0 ? [count] : [])).toSorted((one, other) => one - other)
  const most = Math.max(4, busy[Math.floor(busy.length * 0.95)] ?? 0)
  return (count: number) => Math.min(4, Math.ceil((4 * count) / most))
}

/** Above the first whole week of a month; the first name is left out if the next one would touch it. */
function monthNames(weeks: ContributionDay[][]): Html[] {
  const starts = weeks.flatMap(([first], index) => {
    const month = first?.at.getUTCMonth() ?? 0
    const before = weeks[index - 1]?.[0]?.at.getUTCMonth()
    return month === before ? [] : [{ index, month }]
  })
  return starts
    .filter(({ index }, place) => (starts[place + 1]?.index ?? weeks.length) - index >= 3)
    .map(({ index, month }) => html`<text x="${left + index * step}" y="11">${months[month]}</text>`)
}
