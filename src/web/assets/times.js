// Shows times relative to now, and keeps them true.
const units = [
  ['year', 31_556_952],
  ['month', 2_629_746],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })

function describe(seconds) {
  const [unit, length] = units.find(([, one]) => Math.abs(seconds) >= one) ?? []
  return unit ? relative.format(Math.round(seconds / length), unit) : 'just now'
}

function update() {
  for (const element of document.querySelectorAll('time.ago')) {
    const at = new Date(element.dateTime)
    const text = describe((at - Date.now()) / 1000)
    if (element.textContent !== text) element.textContent = text
    if (element.title.endsWith('UTC')) element.title = exact.format(at)
  }
}

update()
for (const event of ['turbo:load', 'turbo:render', 'belfry:changed']) document.addEventListener(event, update)
setInterval(update, 30_000)
