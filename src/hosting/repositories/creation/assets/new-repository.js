// Says while a name is typed whether it can be used.
import { onElement } from './elements.js'

onElement('[data-name-check]', (fields, signal) => {
  const owner = fields.querySelector('[name="owner"]')
  const name = fields.querySelector('[name="name"]')
  const result = fields.parentElement.querySelector('.name-check')
  let waiting
  let asked = 0

  const check = async () => {
    const turn = ++asked
    const query = new URLSearchParams({ owner: owner.value, name: name.value })
    const answer = await fetch(`${fields.dataset.nameCheck}?${query}`, { signal }).catch(() => undefined)
    const found = answer?.ok ? await answer.json() : { message: '', available: true }
    if (turn !== asked) return
    result.textContent = found.message
    result.classList.toggle('taken', !found.available)
    name.setAttribute('aria-invalid', String(!found.available))
  }
  const later = () => {
    clearTimeout(waiting)
    if (name.value.trim()) waiting = setTimeout(check, 250)
    else result.textContent = ''
  }
  name.addEventListener('input', later, { signal })
  owner.addEventListener('change', later, { signal })
  signal.addEventListener('abort', () => clearTimeout(waiting))
})
