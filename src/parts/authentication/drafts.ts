import type { Vault } from '#platform/vault.ts'

/** A form that was sent when its session had ended: what was written, to be sent again after signing in. */
export interface Draft {
  /** The path that the form is sent to. */
  action: string
  fields: [name: string, value: string][]
  /** Names of fields that were typed and are not kept, because they hold secrets. */
  omitted: string[]
  /** The page that showed the form. */
  back: string
}

/** The page that shows a kept form again, by its key. */
export const resumePath = '/login/resume'

/** Bytes of a kept form. The longest text that a form takes, 65,536 characters of four bytes each, fits. */
const longest = 300_000

/** A kept form expires after this time, in milliseconds. */
const lifetime = 3600_000

/** Fields whose values never leave the form that they were typed in. */
const isSecret = (name: string) => /^(secret|vcs_password)$/.test(name)

/** A form about the credentials themselves, or that gives an application access, is filled in again from the beginning. */
const isCredential = (name: string) => /^(password|current|otp|proposal|decision)$/.test(name)

/** What a button or a choice sends: a form of such fields alone holds nothing that a person wrote. */
const isChoice = (name: string) =>
  /^(id|act|action|answer|state|subscribe|seen|former|undone|read_at|use_lfs|vcs|svn_root|tfvc_project|human_name)$/.test(name)

/** What can be kept of a form; undefined when there is nothing to keep. `too long` when it does not fit. */
export function draftOf(action: string, form: URLSearchParams, back: string): Draft | 'too long' | undefined {
  // The password is dropped, because a user who has just signed in is not asked for it again.
  const sent = [...form].filter(([name]) => name !== 'csrf' && name !== 'confirm_password')
  if (sent.every(([name, value]) => isChoice(name) || value === '') || sent.some(([name]) => isCredential(name))) return undefined
  const fields = sent.filter(([name]) => !isSecret(name))
  const omitted = sent.filter(([name, value]) => isSecret(name) && value !== '').map(([name]) => name)
  const draft = { action, fields, omitted, back }
  return Buffer.byteLength(JSON.stringify(draft)) > longest ? 'too long' : draft
}

const context = 'form sent without a session'

/** For a hidden field of the sign-in page: encrypted, so that it cannot be read or changed. */
export function sealDraft(vault: Vault, now: Date, draft: Draft): string {
  const expires_at = now.getTime() + lifetime
  return vault.seal(JSON.stringify({ ...draft, expires_at }), context).toString('base64url')
}

export function openDraft(vault: Vault, now: Date, sealed: string): Draft | undefined {
  try {
    const { expires_at, ...draft } = JSON.parse(vault.open(Buffer.from(sealed, 'base64url'), context))
    return expires_at > now.getTime() ? draft : undefined
  } catch {
    return undefined
  }
}
