/*
 * Keeps a page fresh without reloading it, and says what a plain form cannot. Every page works without this file.
 */
const main = document.getElementById('main')
const lost = document.getElementById('lost')

/** What a reader typed or ticked stays as it is, whatever the new page says. */
const READERS_OWN = ['value', 'checked', 'selected']

/** Makes `now` like `next`, keeping every element that can stay: focus, selection and scrolling are the reader's. */
const morph = (now, next) =>
  Idiomorph.morph(now, next, { callbacks: { beforeAttributeUpdated: (name) => !READERS_OWN.includes(name) } })

const refresh = async () => {
  try {
    const response = await fetch(location.href, { headers: { accept: 'text/html' } })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const focused = document.activeElement
    morph(main, page.getElementById('main'))
    document.title = page.title
    lost.hidden = true
    // The button that had the focus is gone with what it was for; the keyboard goes on from the top of the page.
    if (focused !== document.activeElement && focused !== document.body) main.focus({ preventScroll: true })
  } catch {
    lost.hidden = false
  }
  later()
}

const later = () => {
  const ms = Number(main.dataset.refreshMs)
  if (ms > 0) setTimeout(() => (document.hidden ? later() : refresh()), ms)
}
later()

for (const input of document.querySelectorAll('input[data-bytes-max]'))
  input.addEventListener('change', () => {
    const tooLarge = [...input.files].some(({ size }) => size > Number(input.dataset.bytesMax))
    input.setCustomValidity(tooLarge ? input.dataset.tooLarge : '')
    input.reportValidity()
  })

// A file takes its time to be read; a second click would only read it again.
document.addEventListener('submit', ({ target, submitter }) => {
  if (target.dataset.busy === undefined || submitter === null) return
  submitter.textContent = target.dataset.busy
  submitter.setAttribute('aria-busy', 'true')
  setTimeout(() => {
    submitter.disabled = true
  })
})
