/* SPDX-License-Identifier: BSD-3-Clause */
/* The search of the manual: searchIndex has [title, address, words of the section], and
   [term, address] for each entry of the index.  Every word that is typed must begin a word. */
"use strict";
(function () {
  var box = document.getElementById("search"), list = document.getElementById("found");

  /* How well an entry fits: 0 if it does not, more for words of its title. */
  function score(entry, asked) {
    var title = " " + entry[0].toLowerCase().replace(/[^a-z0-9_]+/g, " ") + " ";
    var sum = 0;
    for (var i = 0; i < asked.length; i++) {
      if (title.indexOf(" " + asked[i] + " ") >= 0) sum += 4;
      else if (title.indexOf(" " + asked[i]) >= 0 || title.indexOf("_" + asked[i]) >= 0) sum += 3;
      else if (entry[2] && entry[2].indexOf(" " + asked[i]) >= 0) sum += 1;
      else return 0;
    }
    return sum - title.length / 1000;
  }

  function search() {
    var asked = box.value.toLowerCase().split(/[^a-z0-9_]+/).filter(Boolean);
    var found = asked.length === 0 ? [] : searchIndex.map(function (entry) {
      return { entry: entry, score: score(entry, asked) };
    }).filter(function (x) { return x.score > 0; });
    found.sort(function (x, y) { return y.score - x.score; });
    list.textContent = asked.length > 0 && found.length === 0 ? "Nothing found" : "";
    found.slice(0, 30).forEach(function (x) {
      var link = document.createElement("a");
      link.href = x.entry[1];
      link.textContent = x.entry[0];
      list.appendChild(document.createElement("li")).appendChild(link);
    });
    document.body.classList.toggle("searching", asked.length > 0);
  }

  box.addEventListener("input", search);
  box.addEventListener("keydown", function (event) {
    var first = list.querySelector("a");
    if (event.key === "Enter" && first) location.href = first.href;
    if (event.key === "Escape") { box.value = ""; search(); }
  });
  search();
})();
