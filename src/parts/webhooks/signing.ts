import { createHmac } from 'node:crypto'

/** Headers that depend on the time and the hook's secret. They are stored with the outcome. */
export type SignedHeaders = Record<string, string>

export interface SigningOptions {
  content_type: 'json' | 'form'
  agent: string
  /** Null when the hook has none. */
  secret: string | null
  /** Signs for a day after it was replaced, in the Standard Webhooks header only, because only that one can carry two signatures. */
  former_secret: string | null
  sent_at: Date
}

const contentTypes = { json: 'application/json', form: 'application/x-www-form-urlencoded' }

export function encodeBody(payload: string, content_type: 'json' | 'form'): Buffer {
  return Buffer.from(content_type === 'json' ? payload : `payload=${formEncode(payload)}`)
}

/** As in HTML forms, where a space is a plus. */
function formEncode(text: string) {
  return encodeURIComponent(text)
    .replaceAll('%20', '+')
    .replace(/[!'()~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

export function sign(
  body: Buffer,
  guid: string,
  { content_type, agent, secret, former_secret, sent_at }: SigningOptions,
): SignedHeaders {
  const moment = Math.floor(sent_at.getTime() / 1000)
  const standard = [secret, former_secret].filter((one) => one !== null).map((one) => standardSignature(one, guid, moment, body))
  return {
    'User-Agent': agent,
    'content-type': contentTypes[content_type],
    ...(secret !== null && {
      'X-Hub-Signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`,
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    }),
    'webhook-timestamp': String(moment),
    ...(standard.length > 0 && { 'webhook-signature': standard.join(' ') }),
  }
}

/** https://www.standardwebhooks.com: after `whsec_`, the key is in base64. Any other secret is the key itself. */
function standardSignature(secret: string, guid: string, moment: number, body: Buffer) {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret
  return `v1,${createHmac('sha256', key).update(`${guid}.${moment}.`).update(body).digest('base64')}`
}

/** The X-Service headers are those of the spec; the X-GitHub headers serve receivers of the public API. */
export function headersOf(
  { guid, event }: { guid: string; event: string },
  { id, target_id, target_type }: { id: number; target_id: number; target_type: string },
  signed: SignedHeaders,
) {
  const [hook, target] = [String(id), String(target_id)]
  return {
    Accept: '*/*',
    'X-Service-Delivery': guid,
    'X-Service-Event': event,
    'X-Service-Hook-ID': hook,
    'X-Service-Hook-Installation-Target-ID': target,
    'X-Service-Hook-Installation-Target-Type': target_type,
    'X-GitHub-Delivery': guid,
    'X-GitHub-Event': event,
    'X-GitHub-Hook-ID': hook,
    'X-GitHub-Hook-Installation-Target-ID': target,
    'X-GitHub-Hook-Installation-Target-Type': target_type,
    'webhook-id': guid,
    ...signed,
  }
}
