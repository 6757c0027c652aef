// Presses the button, once somebody really looks at the page.
"use strict";
const form = document.querySelector("form");
const press = () => form.requestSubmit();
if (document.prerendering) {
  document.addEventListener("prerenderingchange", press, { once: true });
} else {
  press();
}
