import { listening } from '#activity/outbox/outbox.ts'
import { invalid } from '#platform/errors.ts'
import { checkUrl } from '#platform/outbound/check-url.ts'
import type { Policy } from '#platform/outbound/policy.ts'
import { type Static, Type } from '#platform/schema.ts'

export interface Config {
  url: string
  content_type: 'json' | 'form'
  insecure_ssl: boolean
}

/** As clients send it; null means that a field is not given. */
export const ConfigSchema = Type.Partial(
  Type.Object({
    url: Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 2048 }),
    content_type: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    secret: Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 1024 }),
    insecure_ssl: Type.Unsafe<string | number | null>({ type: ['string', 'number', 'null'] }),
  }),
)
export type ConfigInput = Static<typeof ConfigSchema>

/** Fields that are not given keep their value in `current`, or get the default if there is no `current`. */
export function readConfig(input: ConfigInput, policy: Policy, current?: Config): Config {
  const { url, content_type, insecure_ssl } = input
  return {
    url: url === undefined && current ? current.url : readUrl(url, policy),
    content_type: content_type === undefined && current ? current.content_type : readContentType(content_type),
    insecure_ssl: insecure_ssl === undefined && current ? current.insecure_ssl : readInsecureSsl(insecure_ssl),
  }
}

/** Stored as it was given, because a delivery resolves the URL anew. */
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

/** The only name that the API defines. */
export function checkName(name: string | undefined) {
  if (name !== undefined && name !== 'web') throw invalid({ resource: 'Hook', code: 'invalid', field: 'name' })
}

export const wrong = (field: string, message: string) => invalid({ resource: 'Hook', code: 'custom', field, message })
