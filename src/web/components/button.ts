import { type Html, html } from '../html.ts'
import { icon } from './icon.ts'

interface Button {
  /** The name of an octicon. */
  icon?: string
  kind?: 'default' | 'primary' | 'danger' | 'invisible'
  size?: 'small' | 'medium'
  /** A number beside the text, as of stars. */
  count?: number | undefined
  /** Shown instead of the text to people who see only the icon. */
  label?: string
  /** For several buttons in one form. */
  name?: string
  value?: string
  disabled?: boolean
  /** Submits a form without checking its fields. */
  unchecked?: boolean
  /** The link leads to a file, so scripts leave it to the browser. */
  file?: boolean
  /** Submits a form without its files. */
  text_only?: boolean
}

const classOf = ({ kind = 'default', size = 'medium' }: Button) =>
  ['button', kind !== 'default' && kind, size !== 'medium' && size].filter(Boolean).join(' ')

const inside = (text: string | Html, { icon: name, count }: Button) =>
  html`${name && icon(name)}${text && html`<span>${text}</span>`}${count !== undefined && html`<span class="counter">${shortCount(count)}</span>`}`

/** Submits the form around it. */
export function button(text: string | Html, options: Button = {}): Html {
  const { name, value, label, disabled = false, unchecked = false, text_only = false } = options
  return html`<button class="${classOf(options)}"${name && html` name="${name}" value="${value ?? ''}"`}${label && html` aria-label="${label}" title="${label}"`}${disabled && html` disabled`}${unchecked && html` formnovalidate`}${text_only && html` formenctype="application/x-www-form-urlencoded"`}>${inside(text, options)}</button>`
}

/** A link that looks like a button. */
export function buttonLink(text: string | Html, href: string, options: Button = {}): Html {
  const { label, file = false } = options
  return html`<a class="${classOf(options)}" href="${href}"${file && html` data-turbo="false"`}${label && html` aria-label="${label}" title="${label}"`}>${inside(text, options)}</a>`
}

/** 999, 1.2k, 12k, 3.4m. */
export function shortCount(count: number): string {
  for (const [unit, letter] of [
    [1_000_000, 'm'],
    [1000, 'k'],
  ] as const) {
    if (count >= unit) {
      const value = count / unit
      return `${value < 10 ? (Math.floor(value * 10) / 10).toString() : Math.floor(value)}${letter}`
    }
  }
  return String(count)
}
