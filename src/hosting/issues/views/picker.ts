import { button } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { menu } from '#web/components/menu.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'

interface Picker {
  title: string
  /** The form field. */
  name: string
  choices: { value: string; shown: Html }[]
  chosen: string[]
  /** One choice only. */
  single?: boolean
  /** There are choices that are not listed: they can be typed. */
  more?: boolean
  footer?: Html
}

/**
 * A menu of boxes to check, in a form of its own. What was chosen when the page was made is sent as `had`, so that the form changes only what
 * the visitor changed.
 */
export function picker(visit: Visit, action: string, options: Picker): Html {
  const had = options.single ? [] : options.chosen.map((value) => html`<input type="hidden" name="had" value="${value}">`)
  const inputs = html`${had}${pickerRows(options)}${button('Apply', { kind: 'primary', size: 'small' })}`
  const made = form(visit, action, inputs, { class: 'picker-form', replace: true })
  return menu(
    icon('gear'),
    [{ markup: html`${made}${options.footer && html`<p class="picker-footer">${options.footer}</p>`}` }],
    {
      label: `Change: ${options.title}`,
      kind: 'picker',
      key: options.name,
    },
  )
}

/** The boxes alone, for a form that has others. */
export function pickerRows({ title, name, choices, chosen, single = false, more = false }: Omit<Picker, 'footer'>): Html {
  const known = new Set(chosen)
  const rows = choices.map(
    ({ value, shown }) =>
      html`<label class="picker-row"><input type="${single ? 'radio' : 'checkbox'}" name="${name}" value="${value}"${known.has(value) && html` checked`}> ${shown}</label>`,
  )
  return html`<fieldset><legend class="unseen">${title}</legend>
${choices.length > 7 && html`<input type="search" class="picker-filter" placeholder="Filter" aria-label="Filter: ${title}" autocomplete="off" hidden>`}
<div class="picker-rows">${rows.length ? rows : html`<p class="muted">There is nothing to choose from.</p>`}</div>
${more && html`<input name="${name}" placeholder="Another name" aria-label="Another: ${title}" autocomplete="off" maxlength="100">`}</fieldset>`
}
