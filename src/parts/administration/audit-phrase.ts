import type { AuditFilter } from '#activity/audit.ts'
import { invalid } from '#platform/errors.ts'
import { parseIsoDate } from '#platform/iso-date.ts'

/** Reads the search of the public API: words, and the qualifiers `actor:`, `action:` and `created:`. */
export function readPhrase(phrase: string): AuditFilter {
  const filter: AuditFilter = {}
  const words: string[] = []
  for (const word of phrase.split(/\s+/).filter(Boolean)) {
    const [, name, value = ''] = /^(actor|action|created):(.+)$/.exec(word) ?? []
    if (name === 'actor' || name === 'action') filter[name] = value
    else if (name === 'created') Object.assign(filter, readSpan(value))
    else words.push(word)
  }
  return { ...filter, words: words.join(' ') }
}

const day = 86_400_000

/** `>=2026-01-31`, `<=2026-01-31`, `2026-01-01..2026-01-31`, or one day. */
function readSpan(text: string): Pick<AuditFilter, 'since' | 'until'> {
  const [from, to] = text.split('..', 2)
  const [, sign, one] = /^([<>]=?)?([^.<>]+(?:\.\d+Z?)?)$/.exec(text) ?? []
  if (from && to) return { since: dateOf(from), until: dateOf(to) }
  const date = dateOf(one ?? '')
  if (sign?.startsWith('>')) return { since: date }
  if (sign?.startsWith('<')) return { until: date }
  return { since: date, until: new Date(date.getTime() + day) }
}

function dateOf(text: string): Date {
  const date = parseIsoDate(text)
  if (date) return date
  throw invalid({ resource: 'AuditLog', code: 'invalid', field: 'phrase', message: `created: needs a date, not "${text}"` })
}
