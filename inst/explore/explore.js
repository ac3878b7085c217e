// Sliders are the browser's own range inputs: they answer the keyboard and say
// their position aloud. This file shows what a position means, tells the server,
// and copies the code.
(function () {
  "use strict";

  function show(slider) {
    var at = Number(slider.value) - Number(slider.min);
    var number = slider.dataset.numbers.split("|")[at];
    var words = slider.dataset.words.split("|")[at];
    document.getElementById(slider.id + "_number").textContent = number;
    document.getElementById(slider.id + "_words").textContent = words;
    slider.setAttribute("aria-valuetext", number + ", " + words);
  }

  // While the server draws, only the latest position waits: a fast hand does not
  // queue up pictures that nobody will look at.
  var waiting = new Map();

  function busy() {
    return document.documentElement.classList.contains("shiny-busy");
  }

  $(document).on("shiny:idle", function () {
    var callbacks = Array.from(waiting.values());
    waiting.clear();
    callbacks.forEach(function (callback) { callback(true); });
  });

  var binding = new Shiny.InputBinding();
  $.extend(binding, {
    find: function (scope) { return $(scope).find("input.ibrc-slider"); },
    initialize: function (slider) { show(slider); },
    getValue: function (slider) { return Number(slider.value); },
    subscribe: function (slider, callback) {
      $(slider).on("input.ibrc", function () {
        show(slider);
        if (busy()) waiting.set(slider.id, callback); else callback(true);
      });
    },
    unsubscribe: function (slider) { $(slider).off(".ibrc"); },
    getRatePolicy: function () { return { policy: "throttle", delay: 60 }; }
  });
  Shiny.inputBindings.register(binding, "ibrc.slider");

  // The picture is drawn for the ground that the page has.
  var dark = window.matchMedia("(prefers-color-scheme: dark)");

  // As an input it is known before the first picture.
  var ground = new Shiny.InputBinding();
  $.extend(ground, {
    find: function (scope) { return $(scope).find(".ibrc-ground"); },
    getValue: function () { return dark.matches; },
    subscribe: function (element, callback) {
      if (dark.addEventListener) dark.addEventListener("change", function () { callback(false); });
    },
    unsubscribe: function () {}
  });
  Shiny.inputBindings.register(ground, "ibrc.ground");

  // Where the clipboard is closed to the page, as in some viewers, select and copy.
  function copySelected(element) {
    var range = document.createRange();
    range.selectNodeContents(element);
    var selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  }

  function report(text) {
    var status = document.getElementById("copy_status");
    status.textContent = text;
    window.setTimeout(function () { status.textContent = ""; }, 2500);
  }

  $(document).on("click", "#copy", function () {
    var code = document.getElementById("code");
    function fallBack() {
      report(copySelected(code) ? "Copied" : "Select the code and copy it by hand");
    }
    if (navigator.clipboard && window.isSecureContext) {
      navigator.clipboard.writeText(code.textContent).then(function () { report("Copied"); }, fallBack);
    } else {
      fallBack();
    }
  });
})();
