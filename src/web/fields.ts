import { Refusal } from '#platform/errors.ts'
import { type Html, html } from './html.ts'
import type { Outcome } from './page.ts'

interface Field {
  label: string
  name: string
  /** Set if two forms of a page have a field of the same name. */
  id?: string
  type?: 'text' | 'email' | 'password' | 'tel' | 'url'
  value?: string | null | undefined
  autocomplete?: string
  required?: boolean
  hint?: string
  /** Shown next to the field. */
  error?: string | undefined
  numeric?: boolean
  longest?: number
  /** The id of a `datalist` with suggestions. */
  list?: string
}

export function field({ label, name, id = name, type = 'text', value, autocomplete = 'off', ...more }: Field): Html {
  const { required = false, hint, error, numeric = false, longest = 500, list } = more
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ')
  return html`<label for="${id}">${label}</label><input id="${id}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}"
${required && html` required`}${numeric && html` inputmode="numeric"`}${list && html` list="${list}"`}${described && html` aria-describedby="${described}"`}${error && html` aria-invalid="true"`} maxlength="${longest}" spellcheck="false" autocapitalize="none">
${error && html`<p class="field-error" id="${id}-error">${error}</p>`}${hint && html`<p class="hint muted" id="${id}-hint">${hint}</p>`}`
}

interface Choice {
  name: string
  value: string
  chosen?: boolean
  type?: 'checkbox' | 'radio'
}

export function choice({ name, value, chosen = false, type = 'checkbox' }: Choice, label: Html | string): Html {
  return html`<label class="choice"><input type="${type}" name="${name}" value="${value}"${chosen && html` checked`}> ${label}</label>`
}

export function select(label: string, name: string, options: [value: string, text: string][], chosen: string): Html {
  const items = options.map(
    ([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  )
  return html`<label for="${name}">${label}</label><select id="${name}" name="${name}">${items}</select>`
}

/** A trimmed form field. PostgreSQL text cannot contain a null character. */
export function typed(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').replaceAll('\0', '').trim()
}

/** Why a form was refused; shown above the form. */
export interface Problem {
  message: string
  status: number
  /** Seconds, after too many attempts. */
  retry_after?: number | undefined
}

export function alert(problem: Problem | undefined): Html | undefined {
  return problem && html`<p class="error" role="alert">${problem.message}</p>`
}

/** Shows the form again if its input is refused; rethrows other errors. */
export async function attempt(
  work: () => Promise<Outcome>,
  again: (problem: Problem) => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason === 'missing') throw error
    const message =
      error.faults
        ?.map((fault) => sentence(fault.message ?? (fault.code === 'missing_field' ? `${fault.field} is missing` : fault.code)))
        .join(' ') ?? error.message
    const { retry_after } = error
    return { ...(await again({ message, status: statuses[error.reason] ?? 422, retry_after })) }
  }
}

const statuses: Partial<Record<Refusal['reason'], number>> = { forbidden: 403, rate_limited: 429 }

export function sentence(text: string) {
  const begun = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(begun) ? begun : `${begun}.`
}
