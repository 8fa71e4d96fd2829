import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { openSite, testPages } from './pages.ts'

before(openSite)

testPages('the settings of people')
testPages('the rest of the site')

/** Submit buttons in the order of the page, as a browser without scripts has them. */
function buttonsOf(form: string) {
  const buttons = [...form.matchAll(/<button\b[^>]*>/g)].map(([tag]) => tag)
  return buttons.filter((tag) => !/ type="(button|reset)"/.test(tag))
}

/** Enter in a field presses the first submit button of its form. */
function isWrongAtEnter(form: string) {
  const buttons = buttonsOf(form)
  const hasField = /<input\b(?![^>]* type="hidden")/.test(form)
  return hasField && buttons.length > 1 && !/ class="[^"]*\b(primary|main-act)\b/.test(buttons[0] ?? '')
}

test('Enter in a field does the main act of its form, also without scripts', async () => {
  const { cleo } = await openSite()
  assert.ok(cleo.pages.size >= 100, `${cleo.pages.size} patterns`)
  const wrong = new Set<string>()
  for (const { path, text } of cleo.pages.values()) {
    for (const [form = ''] of text.matchAll(/<form\b.*?<\/form>/gs)) {
      if (isWrongAtEnter(form))
        wrong.add(`${path} ${/ action="([^"]*)"/.exec(form)?.[1]} ${buttonsOf(form).slice(0, 3).join('')}`)
    }
  }
  assert.deepEqual([...wrong], [])
})
