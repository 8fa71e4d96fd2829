import { listening } from '#hosting/announcements/announcements.ts'
import { invalid } from '#platform/errors.ts'
import { checkUrl } from '#platform/outbound/check-url.ts'
import type { Policy } from '#platform/outbound/policy.ts'

/** Where a hook sends to, and how. */
export interface Config {
  url: string
  content_type: 'json' | 'form'
  insecure_ssl: boolean
}

/** As clients write it: null is as good as nothing. */
export interface ConfigInput {
  url?: string | null
  content_type?: string | null
  secret?: string | null
  insecure_ssl?: string | number | null
}

/** What is left out is as it was at first; or as it is in `present`, where there is one. */
export function readConfig(wanted: ConfigInput, policy: Policy, present?: Config): Config {
  const { url, content_type, insecure_ssl } = wanted
  return {
    url: url === undefined && present ? present.url : readUrl(url, policy),
    content_type: content_type === undefined && present ? present.content_type : readContentType(content_type),
    insecure_ssl: insecure_ssl === undefined && present ? present.insecure_ssl : readInsecureSsl(insecure_ssl),
  }
}

/** Kept as it was typed: what is connected to is what the URL means when a delivery is sent. */
function readUrl(url: string | null | undefined, policy: Policy) {
  if (!url?.trim()) throw wrong('url', 'url cannot be blank')
  if (url === listening) return url
  const checked = checkUrl(url, policy)
  if ('refused' in checked) throw wrong('url', `url is not supported because ${checked.refused}`)
  return url
}

function readContentType(text: string | null | undefined): Config['content_type'] {
  const type = text ?? 'form'
  if (type !== 'json' && type !== 'form') throw wrong('content_type', 'content_type must be json or form')
  return type
}

function readInsecureSsl(value: string | number | null | undefined) {
  const text = String(value ?? 0)
  if (text !== '0' && text !== '1') throw wrong('insecure_ssl', 'insecure_ssl must be 0 or 1')
  return text === '1'
}

const wrong = (field: string, message: string) => invalid({ resource: 'Hook', code: 'custom', field, message })
