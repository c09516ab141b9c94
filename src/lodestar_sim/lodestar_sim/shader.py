"""Shade colour images: ceiling light, ambient occlusion, gloss and texture on the hits of a camera's rays."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numba as nb
import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar_sim.raycast import MISS, Hits, RaycastWorld
from lodestar_sim.sign_painter import SignPainter
from lodestar_sim.textures import LEVELS, PLANKS, SIZE, texture_atlas
from lodestar_sim.worlds.palette import MATERIALS
from lodestar_sim.worlds.world import World

_LAMP_HEIGHT = 2.35  # metres above the floor
_LAMP_REACH = 2.0  # metres in plan; upper limit of the distance to the lamp of a large room
_ROOM_CELL = 0.25  # metres, cell size of the room raster
_WOOD = MATERIALS.index("wood")
_GLASS = MATERIALS.index("glass")
_SKY = (168, 196, 226)  # sRGB colour of rays without a hit


def _linear_table() -> np.ndarray:
    s = np.arange(256) / 255.0
    return np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4).astype(np.float32)


def _display_table() -> np.ndarray:
    """Return the table (4096,) uint8 from linear light in 0..2 to sRGB, with a soft shoulder above 0.7."""
    light = np.arange(4096) / 2048.0
    light = np.where(light < 0.7, light, 1.0 - 0.3 * np.exp(-(light - 0.7) / 0.3))
    s = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.clip(s * 255.0 + 0.5, 0, 255).astype(np.uint8)


def _offsets() -> np.ndarray:
    """Return (16, 8, 2) float32: 8 sample offsets for ambient occlusion per pixel of a repeating 4 x 4 tile.

    Offsets are (x, y) in units of the sampling radius.
    """
    order = np.array([0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5])
    angle = np.arange(8) * 2.4 + order[:, None] * (2.0 * np.pi / 16)
    radius = (np.arange(8) + 0.3 + order[:, None] / 20.0) / 9.0
    return np.stack([np.cos(angle) * radius, np.sin(angle) * radius], axis=-1).astype(np.float32)


_OFFSETS = _offsets()


@dataclass(frozen=True)
class Light:
    """Strength of the lamps in the rooms and of the ambient light, each by channel (red, green, blue)."""

    lamp: tuple[float, float, float] = (1.03, 1.0, 0.94)
    ambient: tuple[float, float, float] = (0.98, 1.0, 1.03)


DAYLIGHT = Light()


@nb.njit(cache=True, fastmath=True)
def _occlusion(distance, triangle, normal, rays, focal, offsets, reach):
    """Return the unoccluded share of the half-space near each point, (H / 2, W / 2) float32, in screen space.

    A point surrounded by its own triangle counts as unoccluded and is not sampled.
    """
    height, width = distance.shape
    rows, columns = (height + 1) // 2, (width + 1) // 2
    result = np.ones((rows, columns), np.float32)
    for half_row in range(rows):
        row = 2 * half_row
        for half_column in range(columns):
            column = 2 * half_column
            index = row * width + column
            t = distance[row, column]
            if not t < 50.0:
                continue
            nx, ny, nz = normal[index, 0], normal[index, 1], normal[index, 2]
            dx, dy, dz = rays[index, 3], rays[index, 4], rays[index, 5]
            if nx * dx + ny * dy + nz * dz > 0.0:
                nx, ny, nz = -nx, -ny, -nz
            radius = min(max(reach * focal / t, 4.0), 60.0)
            span = int(radius) + 1
            hit = triangle[index]
            if (
                span <= row < height - span
                and span <= column < width - span
                and triangle[index - span] == hit
                and triangle[index + span] == hit
                and triangle[index - span * width] == hit
                and triangle[index + span * width] == hit
            ):
                continue
            closed = np.float32(0.0)
            turn = (half_row & 3) * 4 + (half_column & 3)
            for k in range(offsets.shape[1]):
                other_row = row + int(offsets[turn, k, 1] * radius)
                other_column = column + int(offsets[turn, k, 0] * radius)
                if not (0 <= other_row < height and 0 <= other_column < width):
                    continue
                s = distance[other_row, other_column]
                if not s < 50.0:
                    continue
                other = other_row * width + other_column
                vx = rays[other, 3] * s - dx * t
                vy = rays[other, 4] * s - dy * t
                vz = rays[other, 5] * s - dz * t
                length = math.sqrt(vx * vx + vy * vy + vz * vz) + np.float32(1e-4)
                rise = (vx * nx + vy * ny + vz * nz) / length - np.float32(0.08)
                if rise > 0.0 and length < 2.0 * reach:
                    closed += rise * (np.float32(1.0) - length / (2.0 * reach))
            result[half_row, half_column] = max(np.float32(0.25), np.float32(1.0) - closed * np.float32(0.42))
    return result


@nb.njit(inline="always")
def _texel(atlas, material, level, u, v):
    """Return the bilinear sample of a texture level at (u, v), in periods of the texture."""
    size = SIZE >> level
    x, y = (u - math.floor(u)) * size, (v - math.floor(v)) * size
    x0, y0 = int(x), int(y)
    fx, fy = x - x0, y - y0
    x0, y0 = x0 & (size - 1), y0 & (size - 1)
    x1, y1 = (x0 + 1) & (size - 1), (y0 + 1) & (size - 1)
    upper = atlas[material, level, y0, x0] * (1.0 - fx) + atlas[material, level, y0, x1] * fx
    lower = atlas[material, level, y1, x0] * (1.0 - fx) + atlas[material, level, y1, x1] * fx
    return upper * (1.0 - fy) + lower * fy


@nb.njit(inline="always")
def _lit(px, py, pz, nx, ny, nz, dx, dy, dz, t, incidence, gloss, power, glass, rooms, centers, origin):
    """Return the room lamp's light (direct), ambient light and specular light (shine) at a point."""
    room_column = int((px + nx * np.float32(0.15) - origin[0]) / _ROOM_CELL)
    room_row = int((py + ny * np.float32(0.15) - origin[1]) / _ROOM_CELL)
    lx, ly = np.float32(0.0), np.float32(0.0)
    if 0 <= room_row < rooms.shape[0] and 0 <= room_column < rooms.shape[1]:
        room = rooms[room_row, room_column]
        lx, ly = centers[room, 0] - px, centers[room, 1] - py
    plan = math.sqrt(lx * lx + ly * ly)
    if plan > _LAMP_REACH:
        lx, ly = lx * _LAMP_REACH / plan, ly * _LAMP_REACH / plan
    lz = max(np.float32(_LAMP_HEIGHT) - pz, np.float32(0.15))
    lamp = math.sqrt(lx * lx + ly * ly + lz * lz)
    lx, ly, lz = lx / lamp, ly / lamp, lz / lamp
    toward = nx * lx + ny * ly + nz * lz
    diffuse = max(toward * np.float32(0.9) + np.float32(0.1), np.float32(0.0))
    diffuse *= np.float32(1.0) / (np.float32(0.55) + np.float32(0.12) * lamp * lamp)
    ambient = np.float32(0.42) + np.float32(0.05) * nz + np.float32(0.04) * nx
    headlight = np.float32(0.10) * incidence / (np.float32(1.0) + np.float32(0.15) * t * t)
    shine = np.float32(0.0)
    if gloss > 0.0:
        hx, hy, hz = lx - dx, ly - dy, lz - dz
        half = math.sqrt(hx * hx + hy * hy + hz * hz) + np.float32(1e-6)
        along = max((nx * hx + ny * hy + nz * hz) / half, np.float32(0.0))
        edge = (np.float32(1.0) - incidence) ** 2
        shine = gloss * (along**power * np.float32(0.6) + np.float32(0.12) * edge * edge)
        if glass:
            shine += np.float32(0.06)
    return np.float32(0.50) * diffuse, headlight, ambient, shine


@nb.njit(cache=True, fastmath=True)
def _shade(distance, triangle, normal, rays, occlusion, focal, objects, colors, materials, atlas, repeats,
           gloss, rooms, centers, origin, lamp_color, ambient_color, linear, display, image):  # fmt: skip
    """Shade the image; light is computed once per 2 x 2 pixels that show one triangle, texture per pixel."""
    height, width = distance.shape
    for row in range(height):
        for column in range(width):
            index = row * width + column
            hit = triangle[index]
            if hit == MISS:
                image[row, column, 0], image[row, column, 1], image[row, column, 2] = _SKY
                continue
            corner = (row - row % 2) * width + column - column % 2
            if corner != index and triangle[corner] == hit:
                continue  # already painted with its 2 x 2 block
            t = distance[row, column]
            dx, dy, dz = rays[index, 3], rays[index, 4], rays[index, 5]
            nx, ny, nz = normal[index, 0], normal[index, 1], normal[index, 2]
            facing = nx * dx + ny * dy + nz * dz
            if facing > 0.0:
                nx, ny, nz, facing = -nx, -ny, -nz, -facing
            ray_length = math.sqrt(dx * dx + dy * dy + dz * dz)
            incidence = -facing / ray_length
            material = int(materials[hit])
            if material == _WOOD and objects[hit] == 0 and nz > 0.9:
                material = PLANKS
            diffuse, headlight, ambient, shine = _lit(
                rays[index, 0] + dx * t, rays[index, 1] + dy * t, rays[index, 2] + dz * t, nx, ny, nz,
                dx / ray_length, dy / ray_length, dz / ray_length, t, incidence,
                gloss[material, 0], gloss[material, 1], material == _GLASS, rooms, centers, origin,
            )  # fmt: skip
            opened = occlusion[row // 2, column // 2]
            direct = diffuse * (np.float32(0.45) + np.float32(0.55) * opened) + headlight
            ambient *= opened
            shine *= opened
            red = linear[colors[hit, 0]] * (ambient * ambient_color[0] + direct * lamp_color[0])
            green = linear[colors[hit, 1]] * (ambient * ambient_color[1] + direct * lamp_color[1])
            blue = linear[colors[hit, 2]] * (ambient * ambient_color[2] + direct * lamp_color[2])
            # choose the texture level that matches the pixel's size
            level_ground = abs(nz) > 0.7
            flat = math.sqrt(nx * nx + ny * ny) + np.float32(1e-6)
            ax, ay = nx / flat, ny / flat
            scale = repeats[material]
            texels = t / focal * scale * SIZE / max(incidence, np.float32(0.25))
            level = 0
            while texels > 1.0 and level < LEVELS - 1:
                texels *= 0.5
                level += 1
            for other_row in range(row, min(row + 2 - row % 2, height) if corner == index else row + 1):
                last = min(column + 2 - column % 2, width) if corner == index else column + 1
                for other_column in range(column, last):
                    other = other_row * width + other_column
                    if triangle[other] != hit:
                        continue
                    s = distance[other_row, other_column]
                    px, py = rays[other, 0] + rays[other, 3] * s, rays[other, 1] + rays[other, 4] * s
                    if level_ground:
                        factor = _texel(atlas, material, level, px * scale, py * scale)
                    else:
                        pz = rays[other, 2] + rays[other, 5] * s
                        factor = _texel(atlas, material, level, (ax * py - ay * px) * scale, pz * scale)
                    strength = factor * np.float32(2048.0)
                    mirrored = shine * np.float32(2048.0)
                    image[other_row, other_column, 0] = display[min(int(red * strength + mirrored), 4095)]
                    image[other_row, other_column, 1] = display[min(int(green * strength + mirrored), 4095)]
                    image[other_row, other_column, 2] = display[min(int(blue * strength + mirrored), 4095)]


class Shader:
    """Render colour images of a world from ray-cast hits."""

    def __init__(self, world: World):
        self._atlas, self._repeats, self._gloss = texture_atlas()
        self._linear, self._display = _linear_table(), _display_table()
        self._signs = SignPainter(world.signs, self._display)
        x0, y0, x1, y1 = world.bounds
        self._origin = np.array([x0, y0], np.float32)
        shape = (max(int((y1 - y0) / _ROOM_CELL) + 1, 1), max(int((x1 - x0) / _ROOM_CELL) + 1, 1))
        self._rooms = np.zeros(shape, np.int32)
        centers = [((x0 + x1) / 2.0, (y0 + y1) / 2.0)]
        for room in world.rooms:
            low_x, low_y, high_x, high_y = room.rect
            top, left = (max(int(d / _ROOM_CELL), 0) for d in (low_y - y0, low_x - x0))
            bottom, right = (max(math.ceil(d / _ROOM_CELL), 0) for d in (high_y - y0, high_x - x0))
            self._rooms[top:bottom, left:right] = len(centers)
            centers.append(((low_x + high_x) / 2.0, (low_y + high_y) / 2.0))
        self._centers = np.array(centers, np.float32)

    def shade(
        self,
        hits: Hits,
        rays: np.ndarray,
        scene: RaycastWorld,
        camera: PinholeCamera,
        light: Light = DAYLIGHT,
    ) -> np.ndarray:
        """Return the RGB image (H, W, 3) uint8 of hits; the rays have z = 1 in the optical frame."""
        size = (camera.height, camera.width)
        distance, focal = hits.distance.reshape(size), np.float32(camera.fx)
        occlusion = _occlusion(distance, hits.triangle, hits.normal, rays, focal, _OFFSETS, np.float32(0.35))
        occlusion = cv2.blur(occlusion, (4, 4))  # averages the 4 x 4 sample rotations
        image = np.empty((*size, 3), np.uint8)
        _shade(
            distance, hits.triangle, hits.normal, rays, occlusion, focal, scene.objects, scene.colors,
            scene.materials, self._atlas, self._repeats, self._gloss, self._rooms, self._centers,
            self._origin, np.array(light.lamp, np.float32), np.array(light.ambient, np.float32),
            self._linear, self._display, image,
        )  # fmt: skip
        self._signs.paint(image, hits, rays, scene, camera)
        return image
